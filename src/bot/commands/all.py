"""Every command of contract §5 in one registry, in the order people read them."""

from bot.commands import (
    advisories,
    agent,
    config,
    confirm,
    grant,
    job,
    link,
    mcp,
    memory,
    run,
    schedule,
    skill,
    who,
)
from bot.commands import help as help_family
from bot.commands.registry import Registry

REGISTRY = Registry(
    command
    for family in (
        schedule,
        job,
        memory,
        mcp,
        skill,
        link,
        config,
        grant,
        agent,
        advisories,
        run,
        confirm,
        who,
        help_family,
    )
    for command in family.COMMANDS
)
