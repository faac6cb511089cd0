"""The project's main module with a bot whose calls are counted."""

from bot.runs.flow import RunFlow
from config_do.object import ConfigDO
from counted import Default
from schedule_do.object import ScheduleDO

__all__ = ["ConfigDO", "Default", "RunFlow", "ScheduleDO"]
