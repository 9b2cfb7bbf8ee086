import ArgumentParser
import GatewayAPI

struct IotctlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "iotctl",
        abstract: "Find, control and watch the cameras of an iotvideod daemon.",
        discussion: """
            EXAMPLES
              iotctl status
              iotctl device list
              iotctl property write front ProWritable._logLevel.setVal 3
              iotctl monitor front --duration 10s --snapshot front.jpg --record front.mp4
              iotctl --json status

            The daemon is found by --socket, then IOTCTL_SOCKET, then the user's own socket
            ($XDG_RUNTIME_DIR/iotvideod.sock), then /run/iotvideod/iotvideod.sock; another
            machine's by --url with --token-file. --socket, --url, --token-file, --ca and
            --json can also precede the command. -v is --version.

            Commands that remove something ask first; scripts add --yes.
            Exit status: 0 success, 1 the operation failed, 2 wrong usage,
            3 the daemon is not reachable, 130 interrupted.
            """,
        version: "iotctl \(ProductVersion.current)",
        subcommands: [
            StatusCommand.self, DeviceCommand.self, PropertyCommand.self, ActionCommand.self,
            UserPropertyCommand.self, EventCommand.self, SendCommand.self, RequestCommand.self, MonitorCommand.self,
            LiveCommand.self, PlaybackCommand.self, TalkCommand.self, ChannelCommand.self, SnapshotCommand.self,
            RecordingCommand.self, DiagnoseCommand.self, CameraCommand.self, UserCommand.self, TokenCommand.self,
            KeyCommand.self, NoticeCommand.self, FirmwareCommand.self, LinkCommand.self,
            ReloadCommand.self, LogCommand.self, NetCommand.self, ErrorCommand.self, VersionCommand.self,
        ])
}
