import IoTCore
import NIOCore
import RTP

@testable import RTSP

extension FuzzTarget {
    /// A player's bytes, in several cuts. Every request gets at most one response, which can be parsed; nothing is
    /// looked up before the login; a session ends once, and nothing happens after the end.
    ///
    /// Bit 0 of the first byte determines whether the player is logged in.
    static let rtspServer = FuzzTarget(
        "rtsp-server",
        cost: ReadingCost { input in
            var server = try? FuzzedRTSPServer(isLoggedIn: true)
            try? server?.read(input, cut: .max)
        }
    ) { input in
        let isLoggedIn = (input.first ?? 0) & 1 == 1
        let content = Array(input.dropFirst())
        var whole = try FuzzedRTSPServer(isLoggedIn: isLoggedIn)
        try whole.read(content, cut: .max)
        var parts = try FuzzedRTSPServer(isLoggedIn: isLoggedIn)
        try parts.read(content, cut: 7)
        try require(whole.log == parts.log, "the cuts of the bytes change what happens: \(whole.log), \(parts.log)")
    }
}

/// A connection of the server. Every input succeeds, except logins.
private struct FuzzedRTSPServer {
    private(set) var log: [String] = []
    private var connection: RTSPServerConnection
    private var hasSession = false
    private var isPlaying = false
    private var hasEnded = false
    private let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private let stream = ServedStream(
        name: "front",
        tracks: [
            RTPCodec(payloadType: 96, encodingName: "H264", clockRate: 90_000),
            RTPCodec(payloadType: 97, encodingName: "opus", clockRate: 48_000, channels: 2),
        ])

    init(isLoggedIn: Bool) throws {
        guard let local = IPAddress("192.0.2.1") else { throw FuzzFailure(description: "no address") }
        var limits = RTSPServerLimits()
        limits.requestsBeforeLogin = .max
        connection = RTSPServerConnection(
            localAddress: local, peer: IPAddress("192.0.2.7"), allowsDatagrams: true, limits: limits, at: now
        ) { 1 }
        if isLoggedIn { connection.user = "0123456789" }
    }

    mutating func read(_ input: [UInt8], cut: Int) throws {
        var rest = ByteBuffer(bytes: input)
        while rest.readableBytes > 0, let part = rest.readSlice(length: min(cut, rest.readableBytes)) {
            try handle(.received(part))
        }
        try handle(.ended)
        try require(connection.isClosed && connection.timeout == nil, "a connection outlives its end")
    }

    private mutating func handle(_ input: RTSPServerConnection.Input) throws {
        connection.handle(input, at: now)
        var steps = 0
        while let output = connection.poll() {
            steps += 1
            try require(steps < 20_000, "one read sets off more than 20,000 outputs")
            try require(!hasEnded, "an output after the end")
            try perform(output)
        }
    }

    private mutating func perform(_ output: RTSPServerConnection.Output) throws {
        switch output {
        case .send(let bytes):
            var parser = RTSPParser(limits: .client)
            parser.receive(bytes)
            guard case .response(let response)? = try parser.next() else {
                throw FuzzFailure(description: "a response cannot be read")
            }
            try require(!parser.isWithinMessage, "a response is followed by other bytes")
            log.append("send \(response.status.rawValue)")
        case .authenticate:
            log.append("authenticate")
            connection.handle(.authenticated(.failure(RTSPRefusal(.unauthorized))), at: now)
        case .open(let path):
            try require(connection.user != nil, "a stream is looked up without a login")
            log.append("open \(path.name.utf8.count)")
            connection.handle(.opened(.success(stream)), at: now)
        case .setUp(_, let track):
            if case .datagrams(let ports) = track.transport {
                try require(ports.rtp >= 1_024 && ports.rtcp >= 1_024, "UDP to a port of a service")
            }
            hasSession = true
            log.append("setUp \(track.index)")
            connection.handle(.isSetUp(.success(nil)), at: now)
        case .prepare:
            connection.handle(.isPrepared(.success([])), at: now)
        case .play:
            try require(hasSession && !isPlaying, "PLAY without a session, or twice")
            isPlaying = true
            log.append("play")
        case .pause:
            try require(isPlaying, "PAUSE while nothing plays")
            isPlaying = false
            log.append("pause")
        case .leave:
            try require(hasSession, "a session is left twice")
            (hasSession, isPlaying) = (false, false)
            log.append("leave")
        case .answered: break
        case .report(let track, _):
            try require(hasSession && track < 2, "a report of no track")
            log.append("report")
        case .close:
            hasEnded = true
            log.append("close")
        }
    }
}
