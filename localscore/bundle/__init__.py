"""All that a machine without a network needs, in one file: packages, a judge, and a script that installs them.

wheels.py    the packages, for a platform and a Python; resolved by pip from the lock
sbom.py      what is inside, as CycloneDX
packing.py   the folder, its sums, and a tar that has the same bytes whenever its content has
install.sh   runs on the other side, with sh, pip and sha256sum

localscore-VERSION-JUDGE/
install.sh  SHA256SUMS  constraints.txt  sbom.cdx.json
wheels/  judges/NAME/  cards/NAME.json  licences/PACKAGE/
"""

from localscore.bundle.packing import Bundled, make
from localscore.bundle.wheels import Target

__all__ = ["Bundled", "Target", "make"]
