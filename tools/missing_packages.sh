#!/usr/bin/env bash
# Prints the Debian packages that this machine lacks: for the programs that are named, or for all that the checks use.
set -euo pipefail

declare -A packages=(
    [chromium]="chromium fonts-dejavu-core"
    [chromium-headless-shell]="chromium-headless-shell fonts-dejavu-core"
    [curl]=curl
    [envsubst]=gettext-base
    [etcd]=etcd-server
    [exim4]=exim4-daemon-light
    [faketime]=faketime
    [firefox]=firefox-esr
    [gcc]=gcc
    [git]=git
    [haproxy]=haproxy
    [ip]=iproute2
    [iptables]=iptables
    [jq]=jq
    [libevent-dev]=libevent-dev
    [libssl-dev]=libssl-dev
    [kubectl]=kubernetes-client
    [make]=make
    [npm]="nodejs npm"
    [openssl]=openssl
    [pgbouncer]=pgbouncer
    [pkg-config]=pkg-config
    [pgbackrest]=pgbackrest
    [pdftoppm]=poppler-utils
    [postgresql-15]=postgresql-15
    [prometheus]=prometheus
    [redis-server]=redis-server
    [strace]=strace
    [systemd-analyze]=systemd
    [valkey]=redis-server
    [webkit]="webkit2gtk-driver xvfb xauth dbus gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad"
    [wrk]=wrk
)

is_installed() {
    case $1 in
        chromium) [ -x "${CHROMIUM:-/usr/bin/chromium}" ] ;;
        chromium-headless-shell) [ -x "${HEADLESS_SHELL:-/usr/bin/chromium-headless-shell}" ] ;;
        exim4 | haproxy | ip | iptables) [ -x "/usr/sbin/$1" ] ;;
        firefox) [ -x /usr/bin/firefox-esr ] ;;
        libevent-dev) [ -e /usr/include/event2/event.h ] ;;
        libssl-dev) [ -e /usr/include/openssl/ssl.h ] ;;
        pgbouncer) [ -x /usr/sbin/pgbouncer ] ;;
        postgresql-15) [ -x /usr/lib/postgresql/15/bin/postgres ] ;;
        webkit) [ -x /usr/bin/WebKitWebDriver ] && command -v Xvfb >/dev/null ;;
        valkey) command -v valkey-server >/dev/null || command -v redis-server >/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

[ $# -gt 0 ] || set -- "${!packages[@]}"
missing=()
for program in "$@"; do
    # shellcheck disable=SC2206  # one program may need two packages
    is_installed "$program" || missing+=(${packages[$program]})
done
echo "${missing[*]}"
