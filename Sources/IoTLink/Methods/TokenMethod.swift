public import IoTCore

/// Tokens and enrolments; `docs/link.md`, "Tokens" and "Accounts, devices and bindings".
public enum TokenMethod {
    public static let create = LinkMethod<JSONValue, JSONValue>(
        "token.create", user: .oneself(parameter: "principal"))
    public static let createAPI = LinkMethod<JSONValue, JSONValue>(
        "token.createAPI", user: .oneself(parameter: "user"))
    public static let enrol = LinkMethod<JSONValue, JSONValue>("token.enrol", user: .oneself(parameter: "user"))
    public static let list = LinkMethod<JSONValue, JSONValue>("token.list", user: .account)
    public static let revoke = LinkMethod<JSONValue, JSONValue>("token.revoke", user: .ownToken, isDurable: true)
    /// Another token in place of the one that ends.
    public static let renew = LinkMethod<JSONValue, JSONValue>("token.renew", user: .account, device: .device)
    public static let check = LinkMethod<JSONValue, JSONValue>("token.check", user: .account)
    /// The public keys that tokens are signed with, as a JWK Set.
    public static let keys = LinkMethod<JSONValue, JSONValue>("token.keys", user: .account)
}
