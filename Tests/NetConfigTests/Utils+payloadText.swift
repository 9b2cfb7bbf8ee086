import NetConfig

extension ProvisioningPayload {
    /// What a code of a text format says.
    func text(as format: ProvisioningFormat) throws -> String {
        String(decoding: try encoded(as: format), as: UTF8.self)
    }
}
