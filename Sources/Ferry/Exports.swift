@_exported public import FerryCore
