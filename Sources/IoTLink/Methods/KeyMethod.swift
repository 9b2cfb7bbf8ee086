public import IoTCore

/// Methods for media keys; `docs/link.md`, "Tokens".
public enum KeyMethod {
    public static let create = LinkMethod<KeyCreation, KeyResponse>("key.create", user: .oneself(parameter: "user"))
    public static let list = LinkMethod<PageQuery, LinkPage<KeyDescription>>("key.list", user: .account)
    public static let revoke = LinkMethod<CredentialReference, LinkNothing>(
        "key.revoke", user: .ownKey, isDurable: true)
    public static let check = LinkMethod<KeyText, CredentialGrant>("key.check", user: .account)
    public static let prove = LinkMethod<KeyProof, CredentialGrant>("key.prove", user: .account)
}
