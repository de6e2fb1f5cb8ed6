#!/bin/sh
# Checks every file of this bundle, and installs localscore and its judge from it. Needs no network and no root.
#
#   sh install.sh [--prefix FOLDER] [--python PYTHON]
#   sh install.sh --check                                only checks
#
# PREFIX, a virtual environment, is ~/localscore where not given. The judge is copied to LOCALSCORE_HOME, or to the
# user's data folder, where localscore looks for it.
set -eu
export LC_ALL=C
cd "$(dirname "$0")"

prefix=${HOME:-.}/localscore
python=${PYTHON:-python3}
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) prefix=$2; shift 2 ;;
        --python) python=$2; shift 2 ;;
        --check) prefix=; shift ;;
        *) echo "install.sh: expected --check, --prefix FOLDER or --python PYTHON, not '$1'" >&2; exit 2 ;;
    esac
done

refuse() {
    echo "REFUSED: $1" >&2
    echo "Nothing was installed. Copy the bundle again, and compare its sha256 with the one on the other side." >&2
    exit 1
}

echo "Checking every file …"
[ -f SHA256SUMS ] || refuse "SHA256SUMS is not there"
own=$(sed '$d' SHA256SUMS | sha256sum | cut -d ' ' -f 1)
[ "$(tail -n 1 SHA256SUMS)" = "# sha256 of the lines above: $own" ] || refuse "SHA256SUMS was changed"
[ "$(wc -l < SHA256SUMS)" -eq "$(grep -c '' SHA256SUMS)" ] || refuse "SHA256SUMS was changed"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
sed '$d' SHA256SUMS > "$list"
sha256sum --check --strict --quiet "$list" || refuse "a file named above is not what was packed"
expected=$(cut -c 67- "$list" | sort)
there=$(find . ! -type d ! -path ./SHA256SUMS | cut -c 3- | sort)
if [ "$expected" != "$there" ]; then
    printf '%s\n%s\n' "$expected" "$there" | sort | uniq -u >&2
    refuse "a file named above is not of this bundle"
fi

if [ -z "$prefix" ]; then
    echo "Every file is what was packed."
    exit 0
fi

echo "Installing into $prefix …"
case $prefix in /*) ;; *) prefix=$OLDPWD/$prefix ;; esac
"$python" -m venv "$prefix"
# Isolated: a package may come from nowhere but the bundle, whatever pip is configured to on this machine.
PIP_CONFIG_FILE=/dev/null "$prefix/bin/python" -m pip --isolated install --quiet --disable-pip-version-check \
    --no-cache-dir --no-index --find-links wheels --constraint constraints.txt localscore

home=${LOCALSCORE_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/localscore}
for judge in judges/*; do
    name=${judge#judges/}
    if [ ! -e "$home/$judge" ]; then
        mkdir -p "$home/judges"
        cp -R "$judge" "$home/judges/.$name.installing"
        mv "$home/judges/.$name.installing" "$home/$judge"
    fi
    "$prefix/bin/localscore" models verify "$name"
done
echo "Ready. Look at it: $prefix/bin/localscore doctor --judge ${name}"
