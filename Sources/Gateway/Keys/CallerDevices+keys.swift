import GatewayAPI
import IoTCore
import IoTLink
import ThingModel

/// The signing keys of the caller's devices. The hub reports the key of each device. The first fingerprint that is stored
/// for an account stays until the account removes it, learns a contradicting one in a stronger way, or the device has
/// another key that the stored one has signed.
extension CallerDevices {
    /// Stores the fingerprint even if the hub reports another key, and even if that one was already stored automatically:
    /// otherwise the contradiction would be reported only once, and then be forgotten.
    func learnKey(of device: String, _ request: DeviceKeyRequest) async throws -> DeviceKeyDescription {
        let details = try await session.model.show(try await session.target(device))
        let place = place(details.summary.id)
        let report = ReportedKey(details.model)
        let reported = report?.key.fingerprint
        // The caller may have learned a key that the device has replaced since.
        let learned = report.flatMap { $0.isSigned(by: request.fingerprint) ? $0.key.fingerprint : nil }
        let entry = KnownDevices.Entry(
            fingerprint: learned ?? request.fingerprint, source: request.source, since: WallClock.milliseconds(),
            previous: learned == nil ? nil : request.fingerprint)
        var old = try await session.gateway.deviceKeys.entry(place)
        if let known = old, let report, report.isSigned(by: known.fingerprint) {
            old = try await session.gateway.deviceKeys.replace(known, by: report.key.fingerprint, at: place)
        }
        // If the hub reports the new key, the old one must stay: later looks compare it with the hub's report, and fail.
        let kept = try await session.gateway.deviceKeys.keep(
            entry, at: place, replacesWeaker: reported != entry.fingerprint)
        if let reported, reported != entry.fingerprint {
            throw IoTError(
                .deviceKeyChanged,
                "the hub reports \(reported) as the device's signing key, but you learned \(entry.fingerprint)",
                remedy: "check that it is the same camera; if it is, do not trust this hub with its pictures; if it is "
                    + "not, run `iotctl device key DEVICE --forget`")
        }
        if let old, old.fingerprint != kept.fingerprint { throw KnownDevices.changed(from: old, to: kept.fingerprint) }
        return DeviceKeyDescription(kept)
    }

    /// Removes the stored fingerprint. A device id need not be one of the account's devices any more, and the hub need not
    /// be reachable.
    func forgetKey(of device: String) async throws {
        let id: DeviceID
        if let given = DeviceID(rawValue: device) {
            try session.caller.require(device: device)
            id = given
        } else if let entry = try? await session.find(device), let found = DeviceID(rawValue: entry.id) {
            id = found
        } else {
            id = try await session.model.show(try await session.target(device)).summary.id
        }
        try await session.gateway.deviceKeys.forget(place(id))
    }

    /// Stores the key that the hub reports, if the account is bound and has no stored key yet.
    ///
    /// - Throws: `deviceKeyChanged` if the hub reports another key than the one stored for the caller's account.
    func checkKey(of device: String) async throws {
        // For a caller who may not see the device, nothing is stored. The hub checks all other rights.
        guard let details = try? await session.model.show(try await session.target(device)),
            let error = await keyDescription(details)?.failure?.error, error.code == .deviceKeyChanged
        else { return }
        throw error
    }

    /// The stored key, compared with the key that the hub reports. Without a stored key, the reported one is stored if the
    /// account is bound.
    func keyDescription(_ details: DeviceDetails) async -> DeviceKeyDescription? {
        let place = place(details.summary.id)
        let report = ReportedKey(details.model)
        let reported = report?.key.fingerprint
        do throws(IoTError) {
            if var kept = try await session.gateway.deviceKeys.entry(place) {
                if let report, report.isSigned(by: kept.fingerprint) {
                    kept = try await session.gateway.deviceKeys.replace(kept, by: report.key.fingerprint, at: place)
                }
                var description = DeviceKeyDescription(kept)
                if let reported, reported != kept.fingerprint {
                    description.failure = APIError(KnownDevices.changed(from: kept, to: reported))
                }
                return description
            }
            guard let reported else { return nil }
            guard details.summary.role != nil else {
                return DeviceKeyDescription(fingerprint: reported, source: .hub, since: nil)
            }
            let entry = KnownDevices.Entry(fingerprint: reported, source: .hub, since: WallClock.milliseconds())
            return DeviceKeyDescription(try await session.gateway.deviceKeys.keep(entry, at: place))
        } catch {
            // The device can be used without a stored key. The description contains the reason why none is stored.
            return reported.map { DeviceKeyDescription(fingerprint: $0, source: .hub, since: nil, failure: error) }
        }
    }

    private func place(_ device: DeviceID) -> KnownDevices.Place {
        KnownDevices.Place(account: session.caller.account, device: device)
    }
}

/// The key in a device's model, and the keys before it.
private struct ReportedKey {
    let key: DevicePublicKey
    private let succession: KeySuccession?

    /// - Returns: `nil` if the model has no key.
    init?(_ model: JSONValue) {
        let constants = model["ProConst"]
        guard let key = constants?[CameraProperty.signingKey]?.stringValue.flatMap({ DevicePublicKey($0) }) else {
            return nil
        }
        self.key = key
        succession = constants?[CameraProperty.keySuccession]?.stringValue.flatMap { KeySuccession($0) }
    }

    /// Whether the key with this fingerprint is an earlier one, whose signature leads to this one.
    func isSigned(by fingerprint: KeyFingerprint) -> Bool {
        fingerprint != key.fingerprint && succession?.leads(from: fingerprint, to: key) == true
    }
}

extension DeviceKeyDescription {
    fileprivate init(_ entry: KnownDevices.Entry) {
        self.init(
            fingerprint: entry.fingerprint, source: entry.source, since: entry.since, previous: entry.previous)
    }
}
