"""H.upf: a pseudopotential file for hydrogen, the analytic local potential of Goedecker, Teter and Hutter."""
import math

MESH, FIRST, STEP = 601, 1e-4, 0.02
CHARGE, RADIUS, C1, C2 = 1.0, 0.2, -4.18023680, 0.72507482

r = [FIRST * math.exp(i * STEP) for i in range(MESH)]


def potential(x):
    y = x / RADIUS
    return 2 * (-CHARGE / x * math.erf(y / math.sqrt(2)) + math.exp(-y * y / 2) * (C1 + C2 * y * y))


def block(name, values):
    rows = [" ".join(f"{v:22.15E}" for v in values[i:i + 4]) for i in range(0, len(values), 4)]
    return f'<{name} type="real" size="{len(values)}" columns="4">\n' + "\n".join(rows) + f"\n</{name}>\n"


no = 'is_ultrasoft="F" is_paw="F" is_coulomb="F" has_so="F" has_wfc="F" has_gipaw="F" paw_as_gipaw="F" core_correction="F"'
with open("H.upf", "w") as f:
    f.write('<UPF version="2.0.1">\n<PP_INFO>\nfor a test\n</PP_INFO>\n')
    f.write('<PP_HEADER generated="test" author="test" date="test" comment="test" element="H" pseudo_type="NC" '
            f'relativistic="no" {no} functional="PZ" z_valence="1.0" total_psenergy="0.0" wfc_cutoff="0.0" '
            f'rho_cutoff="0.0" l_max="0" l_max_rho="0" l_local="0" mesh_size="{MESH}" number_of_wfc="0" '
            'number_of_proj="0"/>\n')
    f.write(f'<PP_MESH dx="{STEP}" mesh="{MESH}" xmin="{math.log(FIRST)}" rmax="{r[-1]}" zmesh="1.0">\n')
    f.write(block("PP_R", r) + block("PP_RAB", [x * STEP for x in r]) + "</PP_MESH>\n")
    f.write(block("PP_LOCAL", [potential(x) for x in r]))
    f.write('<PP_NONLOCAL>\n<PP_DIJ type="real" size="0" columns="4">\n</PP_DIJ>\n</PP_NONLOCAL>\n<PP_PSWFC>\n</PP_PSWFC>\n')
    f.write(block("PP_RHOATOM", [4 * x * x * math.exp(-2 * x) for x in r]) + "</UPF>\n")
