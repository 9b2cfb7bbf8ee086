public import IoTCore

/// Media keys; `docs/link.md`, "Tokens".
public enum KeyMethod {
    public static let create = LinkMethod<JSONValue, JSONValue>("key.create", user: .oneself(parameter: "user"))
    public static let list = LinkMethod<JSONValue, JSONValue>("key.list", user: .account)
    public static let revoke = LinkMethod<JSONValue, JSONValue>("key.revoke", user: .ownKey, isDurable: true)
    public static let check = LinkMethod<JSONValue, JSONValue>("key.check", user: .account)
}
