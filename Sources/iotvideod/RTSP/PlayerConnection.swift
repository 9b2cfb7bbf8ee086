import Gateway
import IoTCore
import IoTLink
import Logging
import MediaChannel
import NIOCore
import RTP
import RTSP

/// Drives one connection of the RTSP server: moves bytes between the socket and `RTSPServerConnection`, and calls the
/// gateway for it.
actor PlayerConnection {
    /// The longest time in which a player accepts no bytes.
    private static let stallTime = TimeAmount.seconds(30)
    /// While too many keys are being checked: the pause between attempts of a login, and the time for all attempts.
    private static let loginRetry = (pause: Duration.milliseconds(250), time: TimeAmount.seconds(10))
    /// The longest time between two checks of the deadlines. A hundred players that are checked each second need as much
    /// CPU time as a quarter of sending to them.
    private static let tick = (beforeSetup: TimeAmount.seconds(1), afterwards: TimeAmount.seconds(10))

    private let door: RTSPDoor
    private let output: RTSPOutput
    private let address: RemoteAddress
    private var core: RTSPServerConnection
    private var isDraining = false
    private var session: (any GatewaySession)?
    private var lease: Lease?
    private var use: StreamUse?
    private var datagrams: DatagramSink?
    private let loggedIn = Readiness<Lease>()
    /// Settled when the camera ends the stream.
    private let ended = Readiness<Void>()

    /// Serves a connection until its end.
    static func serve(_ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>, _ door: RTSPDoor) async {
        try? await channel.executeThenClose { inbound, _ in
            guard let client = PlayerConnection(channel.channel, door) else { return }
            await client.run(inbound)
        }
    }

    /// `nil` if the connection is already closed.
    private init?(_ channel: any Channel, _ door: RTSPDoor) {
        guard let local = channel.localAddress?.playerAddress, let remote = channel.remoteAddress else { return nil }
        self.door = door
        output = RTSPOutput(channel, isPlain: door.datagrams != nil)
        address = RemoteAddress(remote)
        core = RTSPServerConnection(
            localAddress: local, peer: remote.playerAddress, allowsDatagrams: door.datagrams != nil,
            limits: door.limits, at: .now())
    }

    private func run(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    for try await bytes in inbound { await self.handle(.received(bytes)) }
                } catch {}
            }
            group.addTask { await self.keepTime() }
            group.addTask { [loggedIn] in
                guard let lease = try? await loggedIn.wait() else { return }
                // Throws when the right to view or the connection ends.
                do { try await lease.ended() } catch let error as IoTError { await self.end(error) } catch {}
                await self.handle(.ended)
            }
            group.addTask { [ended] in
                try? await ended.wait()
                await self.handle(.ended)
            }
            await group.next()
            group.cancelAll()
            // The other tasks may wait for the socket to accept a response; this ends their wait.
            output.close()
        }
        leave()
    }

    /// Sends the player RTCP BYE.
    private func end(_ reason: IoTError) async {
        await use?.reader.end(reason)
    }

    private func handle(_ input: RTSPServerConnection.Input) async {
        core.handle(input, at: .now())
        await drain()
    }

    /// Performs the outputs in their order, including new outputs that result from them.
    private func drain() async {
        guard !isDraining else { return }
        isDraining = true
        defer { isDraining = false }
        while let next = core.poll() { await perform(next) }
    }

    // MARK: Time

    private func keepTime() async {
        while !Task.isCancelled {
            let now = NIODeadline.now()
            let check = now + (use == nil ? Self.tick.beforeSetup : Self.tick.afterwards)
            var next = min(core.timeout ?? check, check)
            // On whole seconds, so that one wake-up serves all players.
            if use != nil { next = next.atWholeSecond }
            try? await Task.sleep(for: .nanoseconds(max(1_000_000, (next - now).nanoseconds)))
            let after = NIODeadline.now()
            guard !output.isStalled(for: Self.stallTime, at: after) else { return }
            if datagrams?.takeReported() == true { core.handle(.reported, at: after) }
            await handle(.timeout)
        }
    }

    // MARK: Outputs

    private func perform(_ next: RTSPServerConnection.Output) async {
        switch next {
        case .send(let bytes): await output.write(bytes)
        case .answered(let answered):
            door.record.write(answered, caller: lease?.caller, remote: output.channel.remoteAddress?.ipAddress)
        case .authenticate(let authorization, let method, let pause):
            if pause > .zero { try? await Task.sleep(for: .nanoseconds(pause.nanoseconds)) }
            let proof = KeyProof(authorization, method: method.rawValue)
            core.handle(.authenticated(await result { try await logIn(proof) }), at: .now())
        case .open(let path):
            core.handle(.opened(await result { try await tracks(of: path) }), at: .now())
        case .setUp(let path, let track):
            core.handle(.isSetUp(await result { try await setUp(path, track) }), at: .now())
        case .prepare:
            let starts = await result {
                guard let use else { throw IoTError(.hungUp) }
                return try await use.reader.prepare().map {
                    ServedTrackStart(index: $0.index, sequenceNumber: $0.sequenceNumber, timestamp: $0.timestamp)
                }
            }
            core.handle(.isPrepared(starts), at: .now())
        case .play: use?.reader.play()
        case .pause: use?.reader.pause()
        case .leave: leave()
        case .report(let track, let bytes): use?.reader.receive(bytes, index: track)
        case .close: output.close()
        }
    }

    private func result<Value: Sendable>(_ body: () async throws -> Value) async -> Result<Value, RTSPRefusal> {
        do {
            return .success(try await body())
        } catch {
            return .failure(RTSPRefusal(error))
        }
    }

    private func logIn(_ proof: KeyProof) async throws {
        guard let token = BearerToken(proof) else {
            throw IoTError(
                .unauthenticated, "the user name is not the id of a media key",
                remedy: "use the first ten characters of the key as the user name")
        }
        let caller = try await caller(of: token)
        try caller.require(.view)
        let lease = door.gateway.leases.begin(caller) { [output] in output.close() }
        self.lease = lease
        session = door.gateway.session(for: lease)
        door.connections.serve(output.channel)
        loggedIn.settle(.success(lease))
    }

    /// Retries while too many keys are being checked, because all players connect at once after a restart.
    private func caller(of token: BearerToken) async throws -> Caller {
        let end = NIODeadline.now() + Self.loginRetry.time
        while true {
            do {
                return try await door.gateway.tokens.caller(of: token, from: address)
            } catch let error as IoTError where error.code == .tooManyRequests && NIODeadline.now() < end {
                try await Task.sleep(for: Self.loginRetry.pause)
            }
        }
    }

    private func tracks(of path: StreamPath) async throws -> ServedStream {
        guard let session else { throw IoTError(.unauthenticated) }
        return ServedStream(name: path.name, tracks: try await session.streams.tracks(of: path.name, path.definition))
    }

    private func setUp(_ path: StreamPath, _ track: ServedTrack) async throws -> TransportHeader.Pair<UInt16>? {
        guard let session, let lease else { throw IoTError(.unauthenticated) }
        try lease.check()
        var channels: TransportHeader.Pair<UInt8>?
        switch track.transport {
        case .interleaved(let pair): channels = pair
        case .datagrams(let ports): try open(ports, index: track.index)
        }
        let parameters = ReaderTrack(index: track.index, ssrc: track.ssrc, channels: channels)
        do {
            if use == nil {
                let sink: any ReaderSink =
                    datagrams ?? ConnectionSink(output) { [ended] in ended.settle(.success(())) }
                let use = try await session.streams.read(path.name, path.definition, sink: sink)
                datagrams?.serve(use.reader)
                self.use = use
            }
            try await use?.reader.add(parameters)
        } catch {
            // The next SETUP may use another transport.
            leave()
            throw error
        }
        return datagrams?.serverPorts
    }

    /// Sends a track to ports of the player's own address.
    private func open(_ ports: TransportHeader.Pair<UInt16>, index: Int) throws {
        guard let shared = door.datagrams, let peer = output.channel.remoteAddress else { throw IoTError(.hungUp) }
        let sink = datagrams ?? DatagramSink(shared) { [ended] in ended.settle(.success(())) }
        datagrams = sink
        sink.add(index: index, peer: peer, ports: ports)
    }

    private func leave() {
        use?.reader.leave()
        use = nil
        datagrams?.close()
        datagrams = nil
    }
}

extension NIODeadline {
    /// The first whole second that is not earlier.
    fileprivate var atWholeSecond: NIODeadline {
        let second: UInt64 = 1_000_000_000
        return .uptimeNanoseconds((uptimeNanoseconds + second - 1) / second * second)
    }
}
