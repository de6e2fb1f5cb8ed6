"""What a bundle holds, as a CycloneDX bill of materials; the same content gives the same bytes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from localscore.bundle.wheels import Wheel
from localscore.errors import OptionError
from localscore.judges.cards import Card


def sbom(wheels: Iterable[Wheel], card: Card, sha256: Mapping[str, str]) -> bytes:
    """Return the bill of materials of some packages and a judge.

    Args:
        wheels: the packages.
        card: the judge.
        sha256: of each wheel and each of the judge's files, by file name.

    Raises:
        OptionError: the library that writes it is not installed.
    """
    try:
        from cyclonedx.model import HashAlgorithm, HashType
        from cyclonedx.model.bom import Bom
        from cyclonedx.model.component import Component, ComponentType
        from cyclonedx.model.license import DisjunctiveLicense
        from cyclonedx.output.json import JsonV1Dot6
        from packageurl import PackageURL
    except ImportError:
        raise OptionError(
            "A bundle's bill of materials needs cyclonedx-python-lib.",
            hint="pip install 'localscore[bundle]'",
        ) from None

    def component(name: str, version: str, licence: str, hashed: str, **more: object) -> Component:
        return Component(
            name=name,
            version=version,
            licenses=[DisjunctiveLicense(name=licence)],
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=hashed)],
            bom_ref=f"{name}@{version}",
            **more,  # type: ignore[arg-type]
        )

    parts = [
        component(
            wheel.name,
            wheel.version,
            wheel.licence,
            sha256[wheel.path.name],
            type=ComponentType.LIBRARY,
            purl=PackageURL("pypi", None, wheel.name.lower().replace("_", "-"), wheel.version),
        )
        for wheel in wheels
    ]
    revision = card.hub.revision if card.hub is not None else "unknown"
    parts += [
        component(
            f"{card.name}/{file.path}",
            revision,
            card.licence,
            sha256[file.path],
            type=ComponentType.MACHINE_LEARNING_MODEL,
        )
        for file in card.files
    ]
    bom = Bom(components=parts)
    bom.metadata.timestamp = datetime.fromtimestamp(0, UTC)  # the time of making would change the bytes
    content = json.dumps(sorted(f"{part.name} {part.version}" for part in parts)) + json.dumps(
        sorted(sha256.items())
    )
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, content)
    return JsonV1Dot6(bom).output_as_string(indent=1).encode()
