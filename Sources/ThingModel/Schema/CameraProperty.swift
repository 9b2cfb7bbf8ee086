/// Properties of a camera's model that the hub or the gateway reads.
public enum CameraProperty {
    /// `ProConst`: the public half of the device's signing key, as `DevicePublicKey.text`.
    public static let signingKey = "signingKey"
    /// `ProConst`: the keys before it, as `KeySuccession.text`.
    public static let keySuccession = "signingKeySuccession"
    /// `ProConst`: the model and the version for releases of firmware.
    public static let firmware = "firmware"
    /// `ProReadonly`: the state of the source, and since when.
    public static let source = "source"
    /// `ProReadonly`: why the source failed.
    public static let sourceFailure = "sourceFailure"
    /// `ProReadonly`: the state that the action of the same name sets; 0 while the camera is switched off.
    public static let cameraOn = "cameraOn"
    /// `ProReadonly`: where the device is reached on its own network, as `LANPlace.value`.
    public static let lan = "lan"
}
