"""`countersign config …`: what people decide, checked before it counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli import terminal
from bot.cli.terminal import ExitCode, Mistake, in_sentences

if TYPE_CHECKING:
    from bot.config import Config

app = typer.Typer(help="The reviewed decisions in countersign.toml.", no_args_is_help=True)


@app.callback()
def _config() -> None:
    """Keeps `check` a subcommand while it is the only one."""


@app.command()
@in_sentences
def check(
    file: Annotated[
        Path | None, typer.Argument(help="The file to check; default that of COUNTERSIGN_CONFIG.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object: file, valid, policy_version, problems.")
    ] = False,
) -> None:
    """Validate countersign.toml: every problem at once, or what the file says.

    Exits 0 when it is valid, 2 when it is not or cannot be read. With FILE it needs no settings, as in CI.
    """
    from bot.cli.environment import settings
    from bot.config import Config, ConfigError

    path = file or settings().config_path
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Mistake(
            f"{path} cannot be read ({error.strerror}): name the file, or set COUNTERSIGN_CONFIG to it."
        ) from None
    try:
        config = Config.parse(content)
    except ConfigError as error:
        if as_json:
            terminal.echo(_as_json(path, None, error.problems))
        else:
            for problem in error.problems:
                terminal.echo(f"{path}: {problem}", err=True)
        raise typer.Exit(ExitCode.UNUSABLE) from None
    if as_json:
        terminal.echo(_as_json(path, config, ()))
        return
    terminal.echo(f"{path} is valid; policy version {config.digest[:12]}.")
    _show(config)


def _as_json(path: Path, config: Config | None, problems: Sequence[str]) -> str:
    version = config.digest[:12] if config else None
    report = {"file": str(path), "valid": config is not None, "policy_version": version}
    return json.dumps({**report, "problems": [*problems]}, ensure_ascii=False)


def _show(config: Config) -> None:
    from bot.config import write_duration
    from bot.domain.money import format_usd
    from bot.domain.people import SUM_WORDS

    people, policy = config.policy.people, config.policy
    terminal.echo(f"Requests go to {config.channels.approvals}, alerts to {config.channels.alerts}.")
    terminal.echo(f"Requesters: {', '.join(people.requesters) or 'every full member'}.")
    terminal.echo(f"Approvers: {', '.join(people.approvers)}.")
    terminal.echo(f"Admins: {', '.join(people.admins) or 'nobody, so approvers do what admins do'}.")
    for one in policy.delegations:
        terminal.echo(
            f"{one.delegate} decides in the place of {one.away} from {one.since:%Y-%m-%d %H:%M} to before"
            f" {one.until:%Y-%m-%d %H:%M} UTC: {one.reason}"
        )
    for kind in ("default", *policy.kinds):
        rule = policy.of(kind)
        steps = "".join(
            f", {tier.approvals} above {format_usd(tier.above_usd)}{SUM_WORDS[tier.per]}"
            for tier in rule.tiers
        )
        approvals = f"{rule.approvals} approval" if rule.approvals == 1 else f"{rule.approvals} approvals"
        terminal.echo(f"{kind}: {approvals}{steps}; expires after {write_duration(rule.expires)}.")
