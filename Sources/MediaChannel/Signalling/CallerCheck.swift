import IoTCore
import IoTLink

/// Checks that one of the gateways that may call a camera made a description for this call. The hub's token alone is then
/// not sufficient.
struct CallerCheck: Sendable {
    let callers: CallerKeys

    /// - Parameters:
    ///   - description: the caller's SDP.
    ///   - offer: the camera's SDP, if `description` is the answer to it.
    /// - Throws: `callerUnproven`.
    func verify(
        _ description: String, _ proof: DescriptionProof?, answering offer: String? = nil, of call: CallIdentity
    ) throws(IoTError) {
        guard callers.areLimited else { return }
        guard let proof else { throw IoTError(.callerUnproven, "the caller's description is not signed") }
        guard let signer = proof.signer(of: call.statement(of: description, by: .caller, answering: offer)) else {
            throw IoTError(.callerUnproven, "the signature of the caller's description is not valid for this call")
        }
        guard callers.allow(signer.fingerprint) else {
            throw IoTError(.callerUnproven, "the gateway with the key \(signer.fingerprint) may not call this camera")
        }
    }
}
