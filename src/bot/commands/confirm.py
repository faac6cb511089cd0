"""The ``confirm`` command: runs a command that was handed back (contract §4)."""

from __future__ import annotations

from bot.commands.grammar import Malformed, Parsed, Syntax, word
from bot.commands.registry import Args, Command, Invocation, Outcome, failed, ok, refused
from bot.dispatch.handback import claim_handback
from bot.ports import House
from bot.words import Code, Effect, OutcomeKind, Refused


async def _confirm(house: House, call: Invocation, args: Args) -> Outcome:
    """Claim the code, then run its command as an explicit one under the caller's grants.

    A bot that dies between the two has used the code up: at most once, by decision.
    """
    code = args["code"].upper()
    command_text = await claim_handback(house, call.actor, code, call.now_ms)
    if command_text is None:
        return refused(
            Refused(
                Code.BAD_CODE,
                "That code confirms nothing of yours: it is wrong, used, or over ten minutes old. "
                "Ask again for what you wanted.",
            )
        )
    parsed = house.commands.parse(command_text, strict=True)
    if not isinstance(parsed, Parsed):
        why = parsed.detail if isinstance(parsed, Malformed) else "It is no command."
        return failed(Refused(Code.BAD_COMMAND, f"The stored command no longer reads. {why}"))
    outcome = await house.commands.invoke(house, call, parsed.name, parsed.args)
    if outcome.kind is OutcomeKind.OK and outcome.then is None:
        return ok(f"Confirmed. {outcome.text}", outcome.data, secret=outcome.secret)
    return outcome


COMMANDS = (
    Command(
        "confirm",
        "Run a command that was handed back to you, once.",
        # What it runs writes, so that neither prose nor a schedule can confirm.
        Effect.WRITE,
        Syntax(args=(word("code"),)),
        _confirm,
    ),
)
