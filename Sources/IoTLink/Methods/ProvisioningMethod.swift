public import IoTCore

/// Bringing a new device to an account; `docs/link.md`, "Provisioning tokens".
public enum ProvisioningMethod {
    /// A token that binds the device that comes with it to the caller.
    public static let token = LinkMethod<ProvisioningTokenCreation, ProvisioningToken>("net.token", user: .account)
    /// How far a token of the caller's has come.
    public static let show = LinkMethod<CredentialReference, ProvisioningStatus>("net.show", user: .account)
    /// A device that has enrolled before comes with a token. A new one exchanges it (`enrol.exchange`).
    public static let claim = LinkMethod<TokenText, ProvisionedBy>("net.claim", device: .device, isDurable: true)
}
