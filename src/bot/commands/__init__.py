"""Commands: one registry for every surface (contract §5), in the order people read them."""

from bot.commands import (
    advisories,
    config,
    confirm,
    grant,
    help,
    link,
    mcp,
    memory,
    run,
    schedule,
    skill,
    who,
)
from bot.commands.registry import Registry

REGISTRY = Registry(
    command
    for family in (
        schedule,
        memory,
        mcp,
        skill,
        link,
        config,
        grant,
        advisories,
        run,
        confirm,
        who,
        help,
    )
    for command in family.COMMANDS
)
