import IoTCore
import IoTLink
import Testing

@testable import Gateway

/// What a gateway does with the key with which a device has signed the description of its connection.
@Suite struct DeviceTrustTests {
    private let device = DeviceID.random()
    private let bob = AccessID(rawValue: "bob")!
    private let eve = AccessID(rawValue: "eve")!
    private let first = DeviceKey().publicKey
    private let second = DeviceKey().publicKey

    private func refusal(_ body: () async throws(IoTError) -> KeySource?) async -> ErrorCode? {
        do throws(IoTError) {
            _ = try await body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test("The first signer is stored for the account; then an unsigned call is refused with 25070, another with 25080")
    func firstUse() async throws {
        let store = DeviceKeyStore(path: nil)
        #expect(try await store.check(nil, with: nil, of: device, for: bob) == nil)
        #expect(try await store.check(first, with: nil, of: device, for: bob) == .hub)
        #expect(try await store.check(first, with: nil, of: device, for: bob) == .hub)
        #expect(
            await refusal { () throws(IoTError) in try await store.check(nil, with: nil, of: device, for: bob) }
                == .deviceUnproven)
        #expect(
            await refusal { () throws(IoTError) in try await store.check(second, with: nil, of: device, for: bob) }
                == .deviceKeyChanged)
        // A refused call changes nothing, and other accounts have keys of their own.
        #expect(try await store.check(first, with: nil, of: device, for: bob) == .hub)
        #expect(try await store.check(nil, with: nil, of: device, for: eve) == nil)
        #expect(try await store.check(second, with: nil, of: device, for: eve) == .hub)
    }

    @Test("How the key was learned is reported; after the owner has removed it, another key is stored")
    func learnedAgain() async throws {
        let store = DeviceKeyStore(path: nil)
        let place = KnownDevices.Place(account: bob, device: device)
        _ = try await store.keep(.init(fingerprint: first.fingerprint, source: .ap, since: 1), at: place)
        #expect(try await store.check(first, with: nil, of: device, for: bob) == .ap)
        try await store.forget(place)
        #expect(try await store.check(second, with: nil, of: device, for: bob) == .hub)
    }

    @Test("Without room for another key, a call is not verified, and keys that are stored still count")
    func room() async throws {
        let store = DeviceKeyStore(path: nil)
        _ = try await store.check(first, with: nil, of: device, for: bob)
        for _ in 1..<KnownDevices.maximumOfAccount {
            _ = try await store.check(first, with: nil, of: .random(), for: bob)
        }
        #expect(try await store.check(first, with: nil, of: .random(), for: bob) == nil)
        #expect(
            await refusal { () throws(IoTError) in try await store.check(nil, with: nil, of: device, for: bob) }
                == .deviceUnproven)
    }

    // MARK: Replaced keys

    /// A device whose key was replaced, from the first one on.
    private func replaced(_ times: Int) throws -> [DeviceKey] {
        try (0..<times).reduce(into: [DeviceKey()]) { keys, _ in
            var next = DeviceKey()
            next.succession = try keys.last!.succession.appending(keys.last!, signing: next.publicKey)
            keys.append(next)
        }
    }

    @Test("A key that the stored one has signed replaces it, over several steps, and keeps how the first was learned")
    func signed() async throws {
        let keys = try replaced(4)
        let store = DeviceKeyStore(path: nil)
        let place = KnownDevices.Place(account: bob, device: device)
        _ = try await store.keep(.init(fingerprint: keys[0].publicKey.fingerprint, source: .ap, since: 1), at: place)
        for index in [1, 4] {
            let proof = try keys[index].prove("")
            #expect(try await store.check(keys[index].publicKey, with: proof, of: device, for: bob) == .ap)
        }
        let entry = try #require(try await store.entry(place))
        #expect(entry.fingerprint == keys[4].publicKey.fingerprint && entry.source == .ap)
        #expect(entry.previous == keys[1].publicKey.fingerprint && entry.since > 1)
        // The earlier keys are not accepted again, with or without their own proof.
        for old in keys.dropLast() {
            let proof = try old.prove("")
            #expect(
                await refusal { () throws(IoTError) in
                    try await store.check(old.publicKey, with: proof, of: device, for: bob)
                } == .deviceKeyChanged)
        }
    }

    @Test("A key that the stored one has not signed is refused, whatever it brings along")
    func unsigned() async throws {
        let keys = try replaced(1)
        let thief = DeviceKey()
        let store = DeviceKeyStore(path: nil)
        _ = try await store.check(keys[0].publicKey, with: nil, of: device, for: bob)
        // None, a signature of its own, and the device's own signature of another key.
        for succession in [
            KeySuccession(), try KeySuccession().appending(thief, signing: thief.publicKey), keys[1].succession,
        ] {
            var key = thief
            key.succession = succession
            let proof = try key.prove("")
            #expect(
                await refusal { () throws(IoTError) in
                    try await store.check(thief.publicKey, with: proof, of: device, for: bob)
                } == .deviceKeyChanged)
        }
        #expect(try await store.check(keys[0].publicKey, with: nil, of: device, for: bob) == .hub)
    }
}
