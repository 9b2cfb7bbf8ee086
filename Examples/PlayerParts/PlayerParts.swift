import Foundation
import IoTCore
import IoTLink
import Logging
import MediaChannel
import MediaCodec
import MediaPlayer
import NIOCore
import NIOPosix
import PeerTransport

/// Joins a hub, watches a camera with parts of its own, and prints what its renderer gets:
/// `swift run player-parts ENROLMENT-FILE DEVICE-ID [PICTURES [call]]`. With `call`, it calls the camera and shows it
/// pictures of its own. docs/player-parts.md explains it.
@main
enum PlayerPartsExample {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let file = arguments.first, let device = arguments.dropFirst().first.flatMap(DeviceID.init(rawValue:))
        else {
            FileHandle.standardError.write(
                Data("usage: player-parts ENROLMENT-FILE DEVICE-ID [PICTURES [call]]\n".utf8))
            exit(2)
        }
        let count = arguments.dropFirst(2).first.flatMap { Int($0) } ?? 10
        let calls = arguments.dropFirst(3).first == "call"
        let grant = try await Enrolment.exchange(try EnrolmentString(parsing: try text(of: file)))
        guard let user = grant.user else { throw IoTError(.invalidParameter, "the enrolment is for no account") }
        let authority = try Authority(grant.certificateAuthority)
        let link = LinkSession(
            configuration: LinkConfiguration(
                principal: .user(user.accessID), token: .value(user.token),
                endpoint: grant.endpoint(certificateAuthorityFile: authority.file)),
            logger: Logger(label: "link") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await link.run() }
            for await change in link.statusChanges() where change.status == .online { break }
            try await watch(device, pictures: count, calls: calls, over: link)
            group.cancelAll()
        }
    }

    private static func watch(
        _ device: DeviceID, pictures count: Int, calls: Bool, over link: LinkSession
    ) async throws {
        let logger = Logger(label: "player-parts") { _ in SwiftLogNoOpLogHandler() }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
        let socket = try await PeerSocket.bind(
            to: address, on: MultiThreadedEventLoopGroup.singleton.next(), logger: logger)
        let (lines, printer) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(1_024))

        // The parts are chosen before a channel is opened; all its users share them.
        var parts = PlayerParts()
        parts.pictureDecoder = { parameters throws(IoTError) in try KeyFrameDecoder(parameters) }
        parts.pictureProcessor = { Negative() }
        parts.pictureRenderer = { Screen(atMost: count, printer) }

        let channels = ChannelRegistry(
            calls: CallClient(link: link), socket: socket, certificates: try PeerCertificatePool(), iceServers: .none,
            usesServersOfDevices: true, parts: parts, logger: logger)
        let channel = try await channels.open(
            device: device, kind: calls ? .live : .monitor, actions: calls ? [.view, .talk] : [.view])
        try await channel.play()
        if calls { try await channel.show(Slides()) }
        for await line in lines { print(line) }
        await channels.closeAll()
        await socket.close()
    }

    private static func text(of file: String) throws -> String {
        try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// A decoder that decodes key frames alone, as one for thumbnails would.
final class KeyFrameDecoder: PictureDecoder {
    private let decoder: VideoDecoder

    init(_ parameters: VideoParameters) throws(IoTError) {
        decoder = try VideoDecoder(parameters)
    }

    func decode(_ frame: MediaFrame, isShown: Bool) throws(IoTError) -> [VideoPicture] {
        guard frame.isKeyFrame else { return [] }
        decoder.reset()
        let pictures = try decoder.decode(frame, isShown: isShown)
        return pictures + decoder.flush()
    }

    func flush() -> [VideoPicture] { [] }
    func reset() { decoder.reset() }
}

/// A processor that makes a negative.
final class Negative: PictureProcessor {
    func process(_ picture: VideoPicture) throws(IoTError) -> VideoPicture {
        guard picture.format == "yuv420p" || picture.format == "yuvj420p" else {
            throw IoTError(.notImplemented, "a negative of \(picture.format)")
        }
        let bytes = ByteBuffer(bytes: picture.packedBytes().readableBytesView.map { 255 - $0 })
        return try VideoPicture(yuv420p: bytes, width: picture.width, height: picture.height, pts: picture.pts)
    }
}

/// A renderer that prints the size and the mean brightness of each picture.
final class Screen: PictureSink {
    private let printer: AsyncStream<String>.Continuation
    private var remaining: Int

    init(atMost count: Int, _ printer: AsyncStream<String>.Continuation) {
        remaining = count
        self.printer = printer
    }

    func take(_ picture: VideoPicture) -> Bool {
        let luma = picture.packedBytes().readableBytesView.prefix(picture.width * picture.height)
        let mean = luma.reduce(0) { $0 + Int($1) } / max(1, luma.count)
        printer.yield("picture \(picture.width)x\(picture.height) brightness \(mean)")
        remaining -= 1
        if remaining == 0 { printer.finish() }
        return remaining > 0
    }

    func end(_ reason: IoTError?) {
        if let reason { printer.yield("ended: \(reason)") }
        printer.finish()
    }
}

/// What the camera's owner sees in a live call: a grey picture, as a program's own camera would give one.
final class Slides: PictureSource {
    static let (width, height, grey) = (320, 240, UInt8(99))

    let frameRate = 5.0

    func take() -> VideoPicture? {
        let (luma, chroma) = (Self.width * Self.height, Self.width * Self.height / 2)
        var bytes = ByteBuffer(repeating: Self.grey, count: luma)
        bytes.writeRepeatingByte(128, count: chroma)
        return try? VideoPicture(yuv420p: bytes, width: Self.width, height: Self.height, pts: 0)
    }

    var end: CaptureEnd? { nil }
    func close() {}
}

/// The file of the authority that a hub on another machine is checked with.
struct Authority: ~Copyable {
    let file: String

    init(_ certificate: String?) throws {
        file = NSTemporaryDirectory() + "/authority-\(UUID().uuidString).pem"
        let isWritten = FileManager.default.createFile(
            atPath: file, contents: Data((certificate ?? "").utf8), attributes: [.posixPermissions: 0o600])
        guard isWritten else { throw IoTError(.fileFailed, file) }
    }

    deinit { try? FileManager.default.removeItem(atPath: file) }
}
