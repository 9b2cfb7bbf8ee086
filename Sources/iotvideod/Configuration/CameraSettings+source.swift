import IoTCore

extension CameraSettings {
    var source: CameraSource { CameraSource(checked: url) }

    /// The settings for opening the camera, with the credentials in the URL where the source needs them.
    ///
    /// - Throws: `.fileFailed` or `.invalidConfiguration` if the password file cannot be used.
    func openable() throws(IoTError) -> CameraSettings {
        guard let username else { return self }
        let password = try passwordFile.map { path throws(IoTError) in try SecretFile.read(path) }
        var camera = self
        camera.url = source.url(username: username, password: password)
        (camera.username, camera.passwordFile) = (nil, nil)
        return camera
    }

    /// Keys that conflict with each other or with the source. Without a source, only the former.
    func conflicts(with source: CameraSource?) -> [Problem] {
        var problems = conflicts(with: source?.kind)
        if username != nil, source?.holdsUser == true, let key = CameraKey.named("username") {
            problems.append(Problem(key: key, reason: "is in the URL too; leave one of them out"))
        }
        return problems
    }
}
