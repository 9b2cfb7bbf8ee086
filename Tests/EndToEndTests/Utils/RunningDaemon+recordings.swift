extension RunningDaemon {
    /// The entity tag of a recording's file, without quotes.
    func recordingTag(_ device: String, _ id: String) async throws -> String? {
        let url = "http://localhost/v1/devices/\(device)/recordings/\(id)/video.mp4"
        let outcome = try await Program.named("curl", ["-sI", "--unix-socket", folder.path("socket"), url]).run()
        return outcome.text.firstMatch(of: #/(?i)etag: "([^"]+)"/#).map { String($0.1) }
    }
}
