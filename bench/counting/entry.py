"""The project's main module with a bot whose calls are counted."""

from counted import Default

from bot.runs.flow import RunFlow
from config_do.object import ConfigDO
from schedule_do.object import ScheduleDO

__all__ = ["ConfigDO", "Default", "RunFlow", "ScheduleDO"]
