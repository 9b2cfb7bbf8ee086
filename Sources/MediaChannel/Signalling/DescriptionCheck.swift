import IoTCore
import IoTLink

/// Checks that the called device made a description for this call. Every description of a device passes here before it is
/// used, whatever the kind of channel and whoever makes the offer.
struct DescriptionCheck: Sendable {
    let trust: any DeviceTrust

    /// - Parameters:
    ///   - description: the device's SDP.
    ///   - offer: the caller's SDP, if `description` is the answer to it.
    /// - Returns: how the account learned the key; `nil` if it knows none, so that the description is not verified.
    /// - Throws: `deviceUnproven`, `deviceKeyChanged`.
    func verify(
        _ description: String, _ proof: DescriptionProof?, answering offer: String? = nil, of call: CallIdentity
    ) async throws(IoTError) -> KeySource? {
        let signer = proof?.signer(of: call.statement(of: description, by: .device, answering: offer))
        guard proof == nil || signer != nil else {
            throw IoTError(.deviceUnproven, "the signature of the device's description is not valid for this call")
        }
        guard let account = call.caller.accessID else {
            throw IoTError(.internalFailure, "\(call.caller) is not an account")
        }
        return try await trust.check(signer, with: proof, of: call.device, for: account)
    }
}
