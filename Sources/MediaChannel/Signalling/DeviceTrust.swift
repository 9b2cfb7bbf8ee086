package import IoTCore
package import IoTLink

/// Decides whether a description comes from the called device.
package protocol DeviceTrust: Sendable {
    /// Checks the key with which a device has signed its description for a call of the account.
    ///
    /// - Parameters:
    ///   - signer: `nil` if the description is not signed.
    ///   - proof: has the keys that the device had before.
    /// - Returns: how the account learned the key; `nil` if it knows none, so that the description is not verified.
    /// - Throws: `deviceUnproven` if the account knows the device's key, and the description is not signed;
    ///   `deviceKeyChanged` if it is signed with another key, to which the known one does not lead.
    func check(
        _ signer: DevicePublicKey?, with proof: DescriptionProof?, of device: DeviceID, for account: AccessID
    ) async throws(IoTError) -> KeySource?
}

/// For a program that stores no keys: nothing is verified.
struct NoDeviceTrust: DeviceTrust {
    func check(
        _ signer: DevicePublicKey?, with proof: DescriptionProof?, of device: DeviceID, for account: AccessID
    ) -> KeySource? { nil }
}
