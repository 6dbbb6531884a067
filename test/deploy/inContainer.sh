# sh inContainer.sh SETPRIV CHROOT ROOT DATA UID GID COMMAND…: runs a command as a container does, without an engine. ROOT is
# its root, read-only but for DATA at /data; it is the first process there, may do nothing that its user may not, and can gain
# nothing. To be run by root in mount and PID namespaces of its own, with the environment that the command is to have.
set -eu
setpriv=$1 chroot=$2 root=$3 data=$4 uid=$5 gid=$6
shift 6
image_path=$PATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p "$root/proc" "$root/dev"
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,ro,bind "$root"
PATH=$image_path
exec "$setpriv" --no-new-privs "$chroot" --userspec="$uid:$gid" --groups= "$root" "$@"
