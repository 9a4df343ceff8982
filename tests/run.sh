#!/usr/bin/env bash
# Runs every test of the workspace, doctests included, on SQLite, PostgreSQL and MariaDB.
#
#   tests/run.sh                     everything
#   tests/run.sh --test postgres     arguments go to `cargo test`
#   tests/run.sh --prepare           only looks for what the tests need, and installs it
#
# What is missing gets installed where that is possible (root on Debian or its kin); otherwise this script says what to
# install. The tests start servers of their own and touch no other, unless one is given to them:
#   INBOX_TEST_POSTGRES_URL=postgres://postgres:password@127.0.0.1:5432/postgres    (a superuser)
#   INBOX_TEST_MYSQL_URL=mysql://root:password@127.0.0.1:3306/mysql                 (root; MariaDB or MySQL)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Is any of these a file? Takes patterns, so that versions and places may differ.
exists() {
    local path
    for path in "$@"; do
        [ -e "$path" ] && return 0
    done
    return 1
}

# The Debian packages that are not here yet, one a line.
missing_packages() {
    # A C compiler that can make a program: Rust links with it, and SQLite is compiled from source.
    cc -x c -o /dev/null - <<<'int main(void) { return 0; }' 2>/dev/null || printf '%s\n' gcc libc6-dev

    if [ -z "${INBOX_TEST_POSTGRES_URL:-}" ]; then
        command -v initdb >/dev/null || exists /usr/lib/postgresql/*/bin/initdb || echo postgresql
        # One test reads the server's messages in German.
        exists /usr/share/i18n/locales/de_DE || echo locales
    fi
    if [ -z "${INBOX_TEST_MYSQL_URL:-}" ]; then
        command -v mariadbd >/dev/null || exists /usr/sbin/mariadbd || echo mariadb-server
    fi
}

check_rust() {
    local needed found
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    if ! command -v cargo >/dev/null || ! command -v rustc >/dev/null; then
        echo "error: no Rust toolchain. Install Rust $needed or newer, see https://rustup.rs," >&2
        echo "       or where Debian has rustup: apt-get install rustup && rustup default stable" >&2
        exit 1
    fi
    found=$(rustc --version | cut -d ' ' -f 2)
    if [ "$(printf '%s\n' "$needed" "$found" | sort -V | head -n 1)" != "$needed" ]; then
        echo "error: Rust $needed or newer is needed, this is $found. Update it: rustup update stable" >&2
        exit 1
    fi
}

apt_install() {
    # Images made small leave translations out, and with them the server's German messages.
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        -o DPkg::Options::='--path-include=/usr/share/locale/*/LC_MESSAGES/*.mo' "$@"
}

install_missing() {
    local packages log
    mapfile -t packages < <(missing_packages)
    [ ${#packages[@]} -eq 0 ] && return

    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "error: the tests need more than is installed here. On Debian or Ubuntu:" >&2
        echo "       sudo apt-get install ${packages[*]}" >&2
        echo "       (or name running servers: see the top of tests/run.sh)" >&2
        exit 1
    fi
    echo "installing: ${packages[*]}"
    log=$(mktemp)
    # A machine may be so new that it has no list of packages yet, or an outdated one.
    if ! apt_install "${packages[@]}" >"$log" 2>&1 &&
        ! { apt-get update && apt_install "${packages[@]}"; } >"$log" 2>&1; then
        cat "$log" >&2
        echo "error: apt-get could not install ${packages[*]}" >&2
        exit 1
    fi
    rm "$log"
}

check_rust
install_missing
if [ "${1:-}" = --prepare ]; then
    exit
fi
exec cargo test --locked --workspace --all-features --no-fail-fast "$@"
