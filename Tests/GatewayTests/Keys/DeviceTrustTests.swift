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
        #expect(try await store.check(nil, of: device, for: bob) == nil)
        #expect(try await store.check(first, of: device, for: bob) == .hub)
        #expect(try await store.check(first, of: device, for: bob) == .hub)
        #expect(
            await refusal { () throws(IoTError) in try await store.check(nil, of: device, for: bob) }
                == .deviceUnproven)
        #expect(
            await refusal { () throws(IoTError) in try await store.check(second, of: device, for: bob) }
                == .deviceKeyChanged)
        // A refused call changes nothing, and other accounts have keys of their own.
        #expect(try await store.check(first, of: device, for: bob) == .hub)
        #expect(try await store.check(nil, of: device, for: eve) == nil)
        #expect(try await store.check(second, of: device, for: eve) == .hub)
    }

    @Test("How the key was learned is reported; after the owner has removed it, another key is stored")
    func learnedAgain() async throws {
        let store = DeviceKeyStore(path: nil)
        let place = KnownDevices.Place(account: bob, device: device)
        _ = try await store.keep(.init(fingerprint: first.fingerprint, source: .ap, since: 1), at: place)
        #expect(try await store.check(first, of: device, for: bob) == .ap)
        try await store.forget(place)
        #expect(try await store.check(second, of: device, for: bob) == .hub)
    }

    @Test("Without room for another key, a call is not verified, and keys that are stored still count")
    func room() async throws {
        let store = DeviceKeyStore(path: nil)
        _ = try await store.check(first, of: device, for: bob)
        for _ in 1..<KnownDevices.maximumOfAccount { _ = try await store.check(first, of: .random(), for: bob) }
        #expect(try await store.check(first, of: .random(), for: bob) == nil)
        #expect(
            await refusal { () throws(IoTError) in try await store.check(nil, of: device, for: bob) }
                == .deviceUnproven)
    }
}
