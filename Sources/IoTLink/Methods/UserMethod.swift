public import IoTCore

/// Methods for accounts.
public enum UserMethod {
    public static let list = LinkMethod<PageQuery, LinkPage<UserDescription>>("user.list", user: .administrator)
    public static let create = LinkMethod<UserCreation, UserResponse>(
        "user.create", user: .administrator, isDurable: true)
    public static let createTemporary = LinkMethod<TemporaryUserCreation, TemporaryUserResponse>(
        "user.createTemporary", user: .owner)
    public static let remove = LinkMethod<UserReference, LinkNothing>(
        "user.remove", user: .administrator, isDurable: true)
}
