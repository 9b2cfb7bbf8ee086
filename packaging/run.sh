#!/bin/bash
# run.sh BIN CAMERA [ADDRESS[:PORT]] — runs the daemon with one camera and prints what to try next. All its files are in
# .run/. With an address of this machine, other boxes can join its hub there.
set -euo pipefail

bin=$1
camera=$2
hub=${3:-}
# CAMERA is relative to this folder, the configuration's paths are relative to .run/.
case $camera in
    *://* | /*) ;;
    *) camera=$PWD/$camera ;;
esac

# The camera's URL may contain a password, which is accepted only in a private file.
umask 077
mkdir -p .run
quoted=${camera//\'/\'\'}
cat > .run/iotvideod.yaml <<YAML
dataDirectory: data
cameras:
  - name: front
    url: '$quoted'
YAML
if [ -n "$hub" ]; then
    case $hub in *:*) ;; *) hub=$hub:8883 ;; esac
    echo "hub: {tls: {listen: '$hub'}}" >> .run/iotvideod.yaml
fi

hints() {
    cat <<HINTS

Try in a second shell, here in $PWD:

  export PATH="$bin:\$PATH" IOTCTL_SOCKET=.run/iotvideod.sock
  iotctl status
  iotctl device list
  iotctl property read front
  iotctl property write front ProWritable._logLevel.setVal 3 --wait
  iotctl monitor front --duration 5s --snapshot front.jpg --record front.mp4
  iotctl net qr --ssid HomeNet --password-file - --terminal

Ctrl-C stops the daemon.
HINTS
}

# The daemon prints one line when it is ready.
show() {
    trap '' INT
    while IFS= read -r line; do
        echo "$line"
        hints
        exec cat
    done
}

# A relative socket path, because an absolute one may be too long.
"$bin/iotvideod" --config .run/iotvideod.yaml --socket .run/iotvideod.sock > >(show) &
daemon=$!
trap 'kill -TERM "$daemon" 2>/dev/null || true' INT TERM
status=0
wait "$daemon" || status=$?
# A signal interrupts the first wait; the daemon then needs a moment to stop cleanly.
if kill -0 "$daemon" 2>/dev/null; then
    status=0
    wait "$daemon" || status=$?
fi
exit "$status"
