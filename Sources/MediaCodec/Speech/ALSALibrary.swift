import IoTCore

/// The functions of alsa-lib (https://www.alsa-project.org, asoundlib.h) that talk uses.
struct ALSALibrary: Sendable {
    typealias Open =
        @convention(c) @Sendable (
            UnsafeMutablePointer<OpaquePointer?>, UnsafePointer<CChar>, CInt, CInt
        ) -> CInt
    /// Device, format, access, channels, rate, resampling allowed, latency in µs.
    typealias SetParameters =
        @convention(c) @Sendable (OpaquePointer, CInt, CInt, CUnsignedInt, CUnsignedInt, CInt, CUnsignedInt) -> CInt
    typealias Read = @convention(c) @Sendable (OpaquePointer, UnsafeMutableRawPointer, CUnsignedLong) -> CLong
    typealias Write = @convention(c) @Sendable (OpaquePointer, UnsafeRawPointer, CUnsignedLong) -> CLong
    typealias Recover = @convention(c) @Sendable (OpaquePointer, CInt, CInt) -> CInt
    typealias Act = @convention(c) @Sendable (OpaquePointer) -> CInt
    typealias Describe = @convention(c) @Sendable (CInt) -> UnsafePointer<CChar>?
    typealias ErrorHandler =
        @convention(c) (
            UnsafePointer<CChar>?, CInt, UnsafePointer<CChar>?, CInt, UnsafePointer<CChar>?
        ) -> Void
    typealias SetErrorHandler = @convention(c) @Sendable (ErrorHandler?) -> CInt

    let open: Open
    let setParameters: SetParameters
    let read: Read
    let write: Write
    let recover: Recover
    let drain: Act
    let close: Act
    let describe: Describe

    /// Loaded once, at the first use.
    private static let loaded = Result { () throws(IoTError) in try ALSALibrary(file: "libasound.so.2") }

    /// Throws 25016 if the library is not installed.
    static func load() throws(IoTError) -> ALSALibrary { try loaded.get() }
}

extension ALSALibrary {
    private init(file: String) throws(IoTError) {
        let library = try SharedLibrary(file: file, use: "which sound devices need", package: "libasound2")
        self.init(
            open: try library.function("snd_pcm_open"), setParameters: try library.function("snd_pcm_set_params"),
            read: try library.function("snd_pcm_readi"), write: try library.function("snd_pcm_writei"),
            recover: try library.function("snd_pcm_recover"), drain: try library.function("snd_pcm_drain"),
            close: try library.function("snd_pcm_close"), describe: try library.function("snd_strerror"))
        // Otherwise alsa-lib writes to stderr. Its handler is variadic, but one that reads only the fixed arguments is
        // called in the same way on every platform of ours.
        _ = try library.function("snd_lib_error_set_handler", as: SetErrorHandler.self)({ _, _, _, _, _ in })
    }
}
