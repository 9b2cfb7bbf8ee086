import IoTCore
import IoTLink
import Logging
import MediaChannel
import NIOCore
import PeerTransport

enum MediaChannelSnippet {
    // snippet
    /// Asks the program beside a camera a question, over a channel without media.
    static func ask(_ question: String, _ device: DeviceID, over link: LinkSession, _ socket: PeerSocket) async throws
        -> String
    {
        let channels = ChannelRegistry(
            calls: CallClient(link: link), socket: socket, certificates: try PeerCertificatePool(),
            iceServers: .none, usesServersOfDevices: true, logger: Logger(label: "channels"))
        let use = try await channels.open(device: device, kind: .transmission, actions: [.control])
        let answer = try await use.channel.ask(ByteBuffer(string: question), timeout: .seconds(5))
        await channels.closeAll()
        return String(buffer: answer)
    }
    // end
}
