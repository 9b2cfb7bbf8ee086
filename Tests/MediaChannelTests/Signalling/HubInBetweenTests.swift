import IoTCore
import IoTLink
import Testing

@testable import MediaChannel

/// A hub between a gateway and a camera that changes what it forwards, or calls the camera itself.
@Suite(.timeLimit(.minutes(2))) struct HubInBetweenTests {
    /// Knows one key.
    private struct Known: DeviceTrust {
        let key: DevicePublicKey

        func check(
            _ signer: DevicePublicKey?, with proof: DescriptionProof?, of device: DeviceID, for account: AccessID
        ) throws(IoTError) -> KeySource? {
            guard let signer else { throw IoTError(.deviceUnproven) }
            guard signer == key || proof?.leads(from: key.fingerprint, to: signer) == true else {
                throw IoTError(.deviceKeyChanged)
            }
            return .ap
        }
    }

    private static let hubsOwn = "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":")
    private static let kinds: [ChannelKind] = [.monitor, .live]

    /// A browser's offer.
    private static let offer =
        ([
            "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE p",
            "a=fingerprint:sha-256 " + Array(repeating: "CD", count: 32).joined(separator: ":"),
            "m=video 9 UDP/TLS/RTP/SAVPF 100", "c=IN IP4 0.0.0.0", "a=ice-ufrag:abcd",
            "a=ice-pwd:abcdefghijklmnopqrstuvwx", "a=setup:actpass", "a=mid:p", "a=recvonly", "a=rtcp-mux",
            "a=rtpmap:100 H264/90000", "a=fmtp:100 packetization-mode=1;profile-level-id=42e01f",
        ].map { $0 + "\r\n" }).joined()

    private func code(_ body: () async throws -> KeySource?) async -> ErrorCode? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? IoTError)?.code
        }
    }

    /// Runs `body` with a camera, and a gateway that knows the camera's key.
    private func withCamera(
        callers: CallerKeys = .all, gatewayKey: DeviceKey? = nil,
        _ body: (CalledCamera, CallClient) async throws -> Void
    ) async throws {
        let key = DeviceKey()
        let camera = try await CalledCamera(key: key, callers: callers)
        let gateway = try camera.gateway(key: gatewayKey, trust: Known(key: key.publicKey))
        do {
            try await body(camera, gateway)
        } catch {
            await camera.close()
            throw error
        }
        #expect(try await camera.viewers == 0)
        await camera.close()
    }

    @Test("A camera's description that the hub does not change is verified, whoever makes the offer", arguments: kinds)
    func unchanged(kind: ChannelKind) async throws {
        try await withCamera { camera, gateway in
            let (watched, answered) = try await (
                camera.watch(gateway, kind), camera.answer(to: Self.offer, gateway, kind)
            )
            #expect(watched == .ap && answered == .ap)
        }
    }

    @Test("With the hub's own fingerprint in it, a camera's description is refused with 25070", arguments: kinds)
    func swapped(kind: ChannelKind) async throws {
        try await withCamera { camera, gateway in
            camera.hub.attack { message, value in
                [.invite, .accepted].contains(message) ? value.withFingerprint(Self.hubsOwn) : value
            }
            #expect(await code { try await camera.watch(gateway, kind) } == .deviceUnproven)
            #expect(await code { try await camera.answer(to: Self.offer, gateway, kind) } == .deviceUnproven)
        }
    }

    @Test("Without the camera's signature, its description is refused with 25070; with another key, with 25080")
    func removed() async throws {
        try await withCamera { camera, gateway in
            camera.hub.attack { message, value in
                guard [.invite, .accepted].contains(message) else { return value }
                return .object((value.objectValue ?? [:]).filter { !["key", "signature"].contains($0.key) })
            }
            #expect(await code { try await camera.watch(gateway) } == .deviceUnproven)
            #expect(await code { try await camera.answer(to: Self.offer, gateway) } == .deviceUnproven)
            camera.hub.attack { message, value in
                var value = value
                if [.invite, .accepted].contains(message) { value["key"] = .string(DeviceKey().publicKey.text) }
                return value
            }
            #expect(await code { try await camera.watch(gateway) } == .deviceUnproven)
            camera.hub.attack(nil)
            let stranger = try camera.gateway(trust: Known(key: DeviceKey().publicKey))
            #expect(await code { try await camera.watch(stranger) } == .deviceKeyChanged)
            #expect(await code { try await camera.answer(to: Self.offer, stranger) } == .deviceKeyChanged)
        }
    }

    @Test("A key that the known one has signed is accepted; if the hub takes the signature away, 25080")
    func replacedKey() async throws {
        let old = DeviceKey()
        var new = DeviceKey()
        new.succession = try KeySuccession().appending(old, signing: new.publicKey)
        let camera = try await CalledCamera(key: new)
        let gateway = try camera.gateway(trust: Known(key: old.publicKey))
        #expect(try await camera.watch(gateway) == .ap)
        #expect(try await camera.answer(to: Self.offer, gateway) == .ap)
        camera.hub.attack { message, value in
            guard [.invite, .accepted].contains(message) else { return value }
            return .object((value.objectValue ?? [:]).filter { $0.key != "succession" })
        }
        #expect(await code { try await camera.watch(gateway) } == .deviceKeyChanged)
        #expect(await code { try await camera.answer(to: Self.offer, gateway) } == .deviceKeyChanged)
        await camera.close()
    }

    @Test("If the hub changes the caller's offer, the camera's answer to it is refused")
    func changedOffer() async throws {
        try await withCamera { camera, gateway in
            camera.hub.attack { message, value in
                message == .connect ? value.withFingerprint(Self.hubsOwn) : value
            }
            #expect(await code { try await camera.answer(to: Self.offer, gateway) } == .deviceUnproven)
        }
    }

    @Test("A description that the camera signed for an earlier call is refused")
    func replayed() async throws {
        try await withCamera { camera, gateway in
            let earlier = Earlier()
            camera.hub.attack { earlier.replay($0, $1) }
            #expect(await code { try await camera.watch(gateway) } == nil)
            #expect(await code { try await camera.watch(gateway) } == .deviceUnproven)
            #expect(await code { try await camera.answer(to: Self.offer, gateway) } == nil)
            #expect(await code { try await camera.answer(to: Self.offer, gateway) } == .deviceUnproven)
        }
    }

    @Test("A camera of which no key is known, and which does not sign, is watched, and its description is not verified")
    func unknown() async throws {
        let camera = try await CalledCamera(key: nil)
        let gateway = try camera.gateway()
        #expect(try await camera.watch(gateway) == nil)
        #expect(try await camera.answer(to: Self.offer, gateway) == nil)
        await camera.close()
    }

    // MARK: The camera checks the caller

    @Test("A camera with `callers` takes the calls of those gateways, in both directions", arguments: kinds)
    func callers(kind: ChannelKind) async throws {
        let key = DeviceKey()
        let callers = CallerKeys("\(DeviceKey().publicKey.fingerprint),\(key.publicKey.fingerprint)")
        try await withCamera(callers: try #require(callers), gatewayKey: key) { camera, gateway in
            let (watched, answered) = try await (
                camera.watch(gateway, kind), camera.answer(to: Self.offer, gateway, kind)
            )
            #expect(watched == .ap && answered == .ap)
        }
    }

    @Test("A hub that makes a token for itself, or puts its fingerprint into the caller's description, gets 25071")
    func hubCalls() async throws {
        let key = DeviceKey()
        let callers = try #require(CallerKeys("\(key.publicKey.fingerprint)"))
        try await withCamera(callers: callers, gatewayKey: key) { camera, gateway in
            for own in [DeviceKey(), nil] {
                let hub = try camera.gateway(key: own)
                for kind in Self.kinds {
                    #expect(await code { try await camera.watch(hub, kind) } == .callerUnproven)
                    #expect(await code { try await camera.answer(to: Self.offer, hub, kind) } == .callerUnproven)
                }
            }
            camera.hub.attack { message, value in
                [.connect, .answered].contains(message) ? value.withFingerprint(Self.hubsOwn) : value
            }
            #expect(await code { try await camera.watch(gateway) } == .callerUnproven)
            #expect(await code { try await camera.answer(to: Self.offer, gateway) } == .callerUnproven)
        }
    }

    @Test("Without `callers`, a hub that makes a token for itself gets the picture, as the threat model says")
    func limit() async throws {
        try await withCamera { camera, _ in
            #expect(await code { try await camera.watch(try camera.gateway(key: DeviceKey())) } == nil)
        }
    }
}
