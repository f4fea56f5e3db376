"""`trifuse profile`: rankings by name, built in or stored in the cluster, version by version."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from trifuse.deploy.cli.common import JsonOption, OpenSearchOption, emit, fail, out, print_lines, say
from trifuse.deploy.cli.profile_tables import changes_table, history_table, profiles_table
from trifuse.deploy.cli.ranking import check_template, json_object, profile_store, read_profile, usage
from trifuse.deploy.errors import NotAnswering, NotConfigured
from trifuse.ranker.errors import ProfileError, SearchUnavailable
from trifuse.ranker.profiles.published import published
from trifuse.ranker.profiles.versions import ProfileVersion, changes, check_name

ProfileArgument = Annotated[
    str, typer.Argument(metavar="PROFILE", help="A name, NAME@VERSION, weights, or a file of JSON.")
]
OtherArgument = Annotated[str, typer.Argument(metavar="OTHER", help="What it is compared with, likewise.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of a stored profile.")]
VersionArgument = Annotated[int, typer.Argument(metavar="VERSION", help="Its number.", min=1)]
FromOption = Annotated[
    str, typer.Option("--from", help="Its settings: JSON, a file of it, weights, or another profile's name.")
]
BodyOption = Annotated[
    str | None,
    typer.Option("--body", help="Its own search body: JSON, or a file of it; {{text}} stands for the text."),
]
NoteOption = Annotated[str | None, typer.Option("--note", help="Why, for who reads the history.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]

commands = typer.Typer(
    name="profile", help="Weights and settings of rankings, by name.", no_args_is_help=True
)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(commands)


@commands.command("list")
def list_command(as_json: JsonOption = False, opensearch: OpenSearchOption = None) -> None:
    """The profiles that go by a name: built in, and stored in the cluster.

    Example: [bold]trifuse profile list[/bold]
    """
    profiles, versions = published(), {}
    faults: list[str] = []
    try:
        with profile_store(opensearch) as store:
            for name in store.names():
                try:
                    stored = store.get(name)
                    profiles[name], versions[name] = stored.profile, stored.version
                except ProfileError as error:
                    faults.append(str(error))
    except NotConfigured:
        say("no cluster is named, so only what is built in is listed", "yellow")
    except (SearchUnavailable, NotAnswering) as error:
        faults.append(f"stored profiles can't be listed: {error}")
    if as_json:
        emit({name: profile.as_dict() for name, profile in profiles.items()})
    else:
        out.print(profiles_table(profiles, versions))
    if faults:
        fail("; ".join(faults))


@commands.command("show")
def show_command(profile: ProfileArgument, opensearch: OpenSearchOption = None) -> None:
    """A profile as JSON, every setting named: the start of your own.

    Example: [bold]trifuse profile show lader > mine.json[/bold]
    """
    with usage():
        emit(read_profile(profile, opensearch=opensearch).as_dict())


@commands.command("set")
def set_command(
    name: NameArgument,
    given: FromOption,
    body: BodyOption = None,
    note: NoteOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
) -> None:
    """Store a profile as the next version of its name; rankers serve it within seconds.

    Example: [bold]trifuse profile set mine --from lexical=0.4,dense=0.6 --note "as in March"[/bold]

    Example: [bold]trifuse profile set mine --from mine.json --body body.json[/bold]
    """
    with usage():
        check_name(name)
        profile = replace(read_profile(given, opensearch=opensearch), name=name)
        if body is not None:
            profile = replace(profile, body=json_object(body, "--body"))
            check_template(profile.body, "--body")
        with profile_store(opensearch) as store:
            _tell(store.set(profile, note=note or ""), as_json)


@commands.command("history")
def history_command(
    name: NameArgument, as_json: JsonOption = False, opensearch: OpenSearchOption = None
) -> None:
    """All versions of a stored profile, the newest first.

    Example: [bold]trifuse profile history mine[/bold]
    """
    with usage(), profile_store(opensearch) as store:
        versions = store.history(name)
    if as_json:
        emit([each.as_dict() for each in versions])
    else:
        out.print(history_table(versions))


@commands.command("diff")
def diff_command(
    profile: ProfileArgument,
    other: OtherArgument,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
) -> None:
    """What differs between two profiles, or two versions of one.

    Example: [bold]trifuse profile diff mine@1 mine[/bold]
    """
    with usage():
        one, two = (read_profile(each, opensearch=opensearch) for each in (profile, other))
    changed = changes(one, two)
    if as_json:
        emit({"changes": changed})
    elif changed:
        out.print(changes_table(changed, profile, other))
    else:
        out.print("They are the same.")


@commands.command("rollback")
def rollback_command(
    name: NameArgument,
    version: VersionArgument,
    note: NoteOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
) -> None:
    """Make an old version current again, as a new version that equals it.

    Example: [bold]trifuse profile rollback mine 3[/bold]
    """
    with usage(), profile_store(opensearch) as store:
        _tell(store.rollback(name, version, note=note), as_json)


@commands.command("delete")
def delete_command(
    name: NameArgument,
    yes: YesOption = False,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
) -> None:
    """Delete a stored profile with its history; rankers that serve it go on until they end.

    Example: [bold]trifuse profile delete mine[/bold]
    """
    with usage(), profile_store(opensearch) as store:
        count = len(store.history(name))
        if not yes:
            typer.confirm(f"Delete {name} with {_versions(count)}?", abort=True, err=True)
        count = store.delete(name)
    if as_json:
        emit({"deleted": count})
    else:
        print_lines([f"{name} is deleted, with {_versions(count)}."])


def _tell(stored: ProfileVersion, as_json: bool) -> None:
    if as_json:
        emit(stored.as_dict())
    else:
        print_lines([f"{stored.name}@{stored.version} is current."])


def _versions(count: int) -> str:
    return f"{count} version{'' if count == 1 else 's'}"
