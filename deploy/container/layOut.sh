#!/bin/sh
# Lays out the root of the image: sh layOut.sh PROGRAM ROOT, with the folder of the built program.
# ROOT/system holds Node.js, the libraries that it is linked to, the program, and what the C library looks up by name;
# ROOT/data is the empty folder of the data volume. The image has no shell and no package manager.
set -eu
program=$1
system=$2/system
here=$(dirname "$0")
node=$(readlink -f "$(command -v node)")

mkdir -p "$system/usr/local/bin" "$system/tocsin" "$system/etc" "$system/tmp" "$2/data"
chmod 1777 "$system/tmp"
chmod 700 "$2/data"

cp "$node" "$system/usr/local/bin/node"
for library in $(ldd "$node" | grep -o '/[^ ]*'); do
  mkdir -p "$system$(dirname "$library")"
  cp -L "$library" "$system$library"
done
# Licences require their texts beside the code.
for text in "$(dirname "$node")/../LICENSE" /usr/share/doc/libc6/copyright /usr/share/doc/gcc-*-base/copyright; do
  [ ! -f "$text" ] || cp --parents -L "$(readlink -f "$text")" "$system"
done

cp "$program"/* "$here/health.mjs" "$system/tocsin"
cp "$here/tocsin" "$system/usr/local/bin/tocsin"
chmod 755 "$system/usr/local/bin/tocsin"

echo 'tocsin:x:10001:10001::/data:/none' >"$system/etc/passwd"
echo 'tocsin:x:10001:' >"$system/etc/group"
echo 'hosts: files dns' >"$system/etc/nsswitch.conf"
