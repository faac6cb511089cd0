"""The main module: the classes that the platform finds by name, and nothing else."""

from bot.runs.flow import RunFlow
from bot.worker import Default
from config_do.object import ConfigDO
from schedule_do.object import ScheduleDO

__all__ = ["ConfigDO", "Default", "RunFlow", "ScheduleDO"]
