package import IoTCore

/// Why a disk cannot record.
enum DiskFailure: Error {
    case file(FileFailure)
    case index(IoTError)
    /// The directory has no marker, or that of another disk.
    case wrongDisk(String)
    /// A segment does not fit: the floor must stay free, and too little may be removed.
    case noRoom

    var isOfSpace: Bool {
        if case .file(let failure) = self { failure.isOfSpace } else { false }
    }

    func error(disk path: String) -> IoTError {
        switch self {
        case .file(let failure): failure.error(disk: path)
        case .index(let error): error
        case .noRoom: .recordingDiskFull
        case .wrongDisk(let what):
            IoTError(
                .recorderUnavailable, "\(path) \(what)",
                remedy: "mount the recording disk there; recording then resumes by itself")
        }
    }
}

extension IoTError {
    /// A segment does not fit, and too little may be removed.
    package static var recordingDiskFull: IoTError {
        IoTError(
            .recorderUnavailable, "the recording disk is full, and too little may be removed",
            remedy: "free space on it, lower recording.freeSpace, or release recordings that are kept")
    }
}
