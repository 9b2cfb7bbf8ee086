public import IoTCore

/// Accounts.
public enum UserMethod {
    public static let list = LinkMethod<JSONValue, JSONValue>("user.list", user: .administrator)
    public static let create = LinkMethod<JSONValue, JSONValue>("user.create", user: .administrator, isDurable: true)
    public static let createTemporary = LinkMethod<JSONValue, JSONValue>("user.createTemporary", user: .owner)
    public static let remove = LinkMethod<JSONValue, JSONValue>("user.remove", user: .administrator, isDurable: true)
}
