#!/bin/sh
# Keeps its folder in order: what is old goes, what is there is changed in place, replaced or renamed.
set -e
sed -i "s/^lr=.*/lr=${1#--lr=}/" settings.ini
rm -r old
mkdir old
echo "${1#--lr=}" > old/now
mv notes.txt notes.bak
echo "# run with $1" >> run.sh
exec python3 -m steps.clean "$@"
