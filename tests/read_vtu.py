# read_vtu.py FILE...: opens each with VTK's own reader, ParaView's, and measures its cells: all must be right side out.
import sys
from vtkmodules.vtkFiltersVerdict import vtkMeshQuality
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

for file in sys.argv[1:]:
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(file)
    reader.Update()
    grid = reader.GetOutput()
    quality = vtkMeshQuality()
    quality.SetInputData(grid)
    quality.SetTetQualityMeasureToVolume()
    quality.SetHexQualityMeasureToVolume()
    quality.Update()
    volumes = quality.GetOutput().GetCellData().GetArray("Quality")
    values = [volumes.GetValue(i) for i in range(volumes.GetNumberOfTuples())]
    if reader.GetErrorCode() or not values or min(values) <= 0:
        sys.exit(f"{file}: error {reader.GetErrorCode()}, {len(values)} cells, smallest volume {min(values, default=0)}")
    print(f"{file}: VTK reads {grid.GetNumberOfPoints()} points, {len(values)} cells, {sum(values):.6g} m³")
