public import IoTCore

/// Binds a new device to an account; `docs/link.md`, "Provisioning tokens".
public enum ProvisioningMethod {
    /// Creates a token that binds the device that presents it to the caller's account.
    public static let token = LinkMethod<ProvisioningTokenCreation, ProvisioningToken>("net.token", user: .account)
    /// The progress of one of the caller's tokens.
    public static let show = LinkMethod<CredentialReference, ProvisioningStatus>("net.show", user: .account)
    /// A device that has enrolled before uses a token. A new one exchanges it (`enrol.exchange`).
    public static let claim = LinkMethod<TokenText, ProvisionedBy>("net.claim", device: .device, isDurable: true)
}
