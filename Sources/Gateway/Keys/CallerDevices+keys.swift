import GatewayAPI
import IoTCore
import IoTLink
import ThingModel

/// The signing keys of the caller's devices. The hub says which key a device has; what the account keeps, it says once
/// and for all.
extension CallerDevices {
    func learnKey(of device: String, _ request: DeviceKeyRequest) async throws -> DeviceKeyDescription {
        let details = try await session.model.show(try await session.target(device))
        let place = place(details.summary.id)
        if let reported = Self.key(in: details.model)?.fingerprint, reported != request.fingerprint {
            throw IoTError(
                .deviceKeyChanged,
                "the hub says that the device's signing key is \(reported), and you learned \(request.fingerprint)",
                remedy: "check that it is the same camera. If it is, do not trust this hub with its pictures")
        }
        let entry = KnownDevices.Entry(
            fingerprint: request.fingerprint, source: request.source, since: WallClock.milliseconds())
        return DeviceKeyDescription(try await session.gateway.deviceKeys.keep(entry, at: place))
    }

    func forgetKey(of device: String) async throws {
        let details = try await session.model.show(try await session.target(device))
        try await session.gateway.deviceKeys.forget(place(details.summary.id))
    }

    /// Keeps what the hub says when the account is bound and keeps nothing yet.
    ///
    /// - Throws: `deviceKeyChanged` when the hub says another key than the one that is kept for the caller's account.
    func checkKey(of device: String) async throws {
        // Who may not see the device keeps nothing of it; the hub decides what else they may do.
        guard let details = try? await session.model.show(try await session.target(device)),
            let error = await keyDescription(details)?.failure?.error, error.code == .deviceKeyChanged
        else { return }
        throw error
    }

    /// What the account keeps, compared with what the hub says. What the hub says first is kept, with the binding.
    func keyDescription(_ details: DeviceDetails) async -> DeviceKeyDescription? {
        let place = place(details.summary.id)
        let reported = Self.key(in: details.model)?.fingerprint
        do throws(IoTError) {
            if let kept = try await session.gateway.deviceKeys.entry(place) {
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
            // A device can be used without it: the description says why nothing is kept.
            return reported.map { DeviceKeyDescription(fingerprint: $0, source: .hub, since: nil, failure: error) }
        }
    }

    private func place(_ device: DeviceID) -> KnownDevices.Place {
        KnownDevices.Place(account: session.caller.account, device: device)
    }

    /// The key that a device's model holds.
    static func key(in model: JSONValue) -> DevicePublicKey? {
        model["ProConst"]?[CameraProperty.signingKey]?.stringValue.flatMap { DevicePublicKey($0) }
    }
}

extension DeviceKeyDescription {
    fileprivate init(_ entry: KnownDevices.Entry) {
        self.init(fingerprint: entry.fingerprint, source: entry.source, since: entry.since)
    }
}
