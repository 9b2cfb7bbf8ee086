/// Names of properties of a camera's model that the hub reads, too.
public enum CameraProperty {
    /// `ProReadonly`: what the source is doing, and since when.
    public static let source = "source"
    /// `ProReadonly`: why it failed.
    public static let sourceFailure = "sourceFailure"
    /// `ProReadonly`, the twin of the action: 0 while the camera is switched off.
    public static let cameraOn = "cameraOn"
}
