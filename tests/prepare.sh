# Sourced by `make test`: what the tests need of the system, installed where we may, named where it cannot be had.

# Files in memory: tests sync theirs all the time. What a power cut leaves of them is simulated.
if [ "$(df --output=avail --block-size=1G /dev/shm 2>/dev/null | tail -n 1)" -ge 6 ] 2>/dev/null &&
    [ "$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)" -ge 10 ]; then
    TMPDIR=$(mktemp -d /dev/shm/kaczmatch-XXXXXX) && chmod 755 "$TMPDIR" && export TMPDIR && trap 'rm -rf "$TMPDIR"' EXIT
fi

install() { # a package
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get install -y --no-install-recommends "$1" >/dev/null 2>&1 ||
            { apt-get update >/dev/null 2>&1 && apt-get install -y --no-install-recommends "$1" >/dev/null 2>&1; }
    else
        return 1
    fi
}

if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && ! command -v initdb >/dev/null; then
    echo "PostgreSQL is missing; trying to install it"
    install postgresql || {
        export NO_POSTGRESQL="not installed, and apt-get could not install it"
        echo "No PostgreSQL: its tests are skipped. Install it with your system's packages, for instance: apt-get install postgresql"
    }
fi

if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null; then
    echo "Chromium is missing; trying to install it"
    install chromium || {
        export NO_CHROMIUM="not installed, and apt-get could not install it"
        echo "No Chromium: tests of the pages are skipped. Install it with your system's packages, for instance: apt-get install chromium"
    }
fi

if ! command -v strace >/dev/null; then
    echo "strace is missing; trying to install it"
    install strace || echo "No strace: tests that cut the power or break the disk are skipped. Install it for them: apt-get install strace"
fi

if ! PATH="$PATH:/usr/sbin" command -v nginx >/dev/null || ! command -v openssl >/dev/null; then
    echo "nginx or openssl is missing; trying to install them"
    { install nginx && install openssl; } ||
        echo "No nginx: the test of the page about proxies is skipped. Install it for that: apt-get install nginx openssl"
fi

for program in haproxy pgbouncer ip; do
    if ! PATH="$PATH:/usr/sbin:/sbin" command -v $program >/dev/null; then
        package=$program && [ $program = ip ] && package=iproute2
        echo "$package is missing; trying to install it"
        install $package || echo "No $package: the tests of several machines are skipped. Install it for them: apt-get install $package"
    fi
done

if command -v npm >/dev/null && [ ! -x clients/typescript/node_modules/.bin/tsc ]; then
    echo "TypeScript is missing; trying to install it"
    timeout 60 npm --prefix clients/typescript install --no-package-lock --no-audit --no-fund --silent >/dev/null 2>&1 ||
        echo "No TypeScript: the test of the TypeScript client is skipped. Install it for that: make typescript"
fi
