package import IoTCore
package import IoTLink
import MediaChannel

/// The stored keys decide which descriptions of devices are used.
extension DeviceKeyStore: DeviceTrust {
    /// The first key with which a device signs is stored, as the first one that the hub reports.
    package func check(
        _ signer: DevicePublicKey?, with proof: DescriptionProof?, of device: DeviceID, for account: AccessID
    ) async throws(IoTError) -> KeySource? {
        let place = KnownDevices.Place(account: account, device: device)
        guard let known = try await entry(place) else {
            guard let signer else { return nil }
            return try await learn(signer, at: place)
        }
        guard let signer else { throw IoTError(.deviceUnproven) }
        guard signer.fingerprint == known.fingerprint else {
            guard let proof, proof.leads(from: known.fingerprint, to: signer) else {
                throw KnownDevices.changed(from: known, to: signer.fingerprint)
            }
            // If the file cannot be written, the next call has the same proof.
            _ = try? await replace(known, by: signer.fingerprint, at: place)
            return known.source
        }
        return known.source
    }

    /// - Returns: `nil` if the store is full. The next call's key is then not compared with this one.
    private func learn(_ signer: DevicePublicKey, at place: KnownDevices.Place) async throws(IoTError) -> KeySource? {
        let entry = KnownDevices.Entry(fingerprint: signer.fingerprint, source: .hub, since: WallClock.milliseconds())
        do throws(IoTError) {
            return try await keep(entry, at: place).source
        } catch {
            guard error.code != .deviceKeyChanged else { throw error }
            return nil
        }
    }
}
