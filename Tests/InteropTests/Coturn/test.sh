#!/bin/bash
# Our peers through coturn on the loopback interface: UDP, TCP and TLS, long-term and time-limited credentials.
# Needs root, iproute2, coturn and openssl, and .build/debug/peer-probe (PROBE selects another).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# In a network namespace, because the servers' ports are fixed: outside, another test's peer may have one of them.
if [ "${1:-}" != inside ]; then
    [ "$(id -u)" = 0 ] || { echo "network namespaces need root"; exit 1; }
    exec unshare --net "$0" inside
fi
ip link set lo up
work=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
command -v turnserver > /dev/null || { echo "turnserver is missing: install coturn"; exit 1; }

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2> "$work/openssl.log"
export TURN_PORT=34780 TURN_TLS_PORT=53490 TURN_SECRET_PORT=34790 TURN_CA=$work/cert.pem

start() {
    local name=$1
    shift
    turnserver -n --allow-loopback-peers --no-dtls --no-cli --log-file stdout \
        --pidfile "$work/$name.pid" --userdb "$work/$name.db" --realm example.org --fingerprint "$@" \
        > "$work/$name.log" 2>&1 &
    servers+=($!)
}
start users -L 127.0.0.1 -E 127.0.0.1 --listening-port $TURN_PORT --tls-listening-port $TURN_TLS_PORT --lt-cred-mech --user user:secret \
    --cert "$work/cert.pem" --pkey "$work/key.pem" --min-port 50000 --max-port 50999 --stale-nonce=5
start secret -L 127.0.0.1 -E 127.0.0.1 --listening-port $TURN_SECRET_PORT --no-tls --use-auth-secret --static-auth-secret north \
    --min-port 51000 --max-port 51999
start ipv6 --listening-port 34800 --no-tls --lt-cred-mech --user user:secret --min-port 52000 --max-port 52999 \
    -L ::1 -E ::1
for port in $TURN_PORT $TURN_TLS_PORT $TURN_SECRET_PORT; do
    for _ in $(seq 100); do
        (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break
        sleep 0.1
    done
done
if ! "${PYTHON:-python3}" "$here/relay.py"; then
    tail -n 40 "$work"/*.log
    exit 1
fi
