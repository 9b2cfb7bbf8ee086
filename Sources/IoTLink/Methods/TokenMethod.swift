public import IoTCore

/// Methods for tokens and enrolments; `docs/link.md`, "Tokens" and "Accounts, devices and bindings".
public enum TokenMethod {
    public static let create = LinkMethod<LinkTokenCreation, IssuedToken>(
        "token.create", user: .oneself(parameter: "principal"))
    public static let createAPI = LinkMethod<APITokenCreation, IssuedToken>(
        "token.createAPI", user: .oneself(parameter: "user"))
    public static let enrol = LinkMethod<EnrolmentCreation, IssuedEnrolment>(
        "token.enrol", user: .oneself(parameter: "user"))
    public static let list = LinkMethod<PageQuery, LinkPage<TokenDescription>>("token.list", user: .account)
    public static let revoke = LinkMethod<CredentialReference, LinkNothing>(
        "token.revoke", user: .ownToken, isDurable: true)
    /// Issues a new token in place of one that will expire.
    public static let renew = LinkMethod<TokenRenewalParameters, IssuedToken>(
        "token.renew", user: .account, device: .device)
    public static let check = LinkMethod<TokenText, CredentialGrant>("token.check", user: .account)
    /// The public keys that verify tokens, as a JWK Set.
    public static let keys = LinkMethod<LinkNothing, JSONValue>("token.keys", user: .account)
}
