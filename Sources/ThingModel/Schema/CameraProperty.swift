/// Properties of a camera's model that the hub also reads.
public enum CameraProperty {
    /// `ProReadonly`: the state of the source, and since when.
    public static let source = "source"
    /// `ProReadonly`: why the source failed.
    public static let sourceFailure = "sourceFailure"
    /// `ProReadonly`: the state that the action of the same name sets; 0 while the camera is switched off.
    public static let cameraOn = "cameraOn"
}
